"""The three real recordings of `reality.py`, a file each."""
