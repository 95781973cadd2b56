"""Starting ranks. Whatever Hocket starts that has ranks, it starts here (tests/structure/test_launch.py)."""

from hocket.launch.process import Done, TimedOutError, attached, captured, end, ended, exit_code, started

__all__ = ["Done", "TimedOutError", "attached", "captured", "end", "ended", "exit_code", "started"]
