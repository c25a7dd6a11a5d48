"""The command line's rooms: one file of commands for each part of the method, and what they share."""
