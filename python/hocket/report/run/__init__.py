"""Report on the collective calls of a program: ``hocket run --report``."""
