"""Figures of the transfer benchmark."""
