"""Starting ranks. Whatever Hocket starts that has ranks, it starts here (tests/structure/test_launch.py)."""

from hocket.launch.process import TimedOutError, attached, captured, end, ended, exit_code, started

__all__ = ["TimedOutError", "attached", "captured", "end", "ended", "exit_code", "started"]
