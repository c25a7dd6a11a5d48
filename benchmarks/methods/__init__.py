"""Parts of methods.py: the robots, the methods, the figures."""
