"""What became of the collective calls of a program: ``hocket run --report``."""
