"""Readers of other people's logs, one file each; the registry says which ending is whose."""
