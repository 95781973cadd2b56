"""Readers of files that tell a network, one a format, and of what such files have in common."""
