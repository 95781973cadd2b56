"""What became of the collective calls of a program: ``hocket run --report``."""

from hocket.calls.merge import Account, Line, merge
from hocket.calls.ranks import RankReport, RankRow, Site, read_rank, read_ranks
from hocket.calls.summary import kept_reports, tell

__all__ = [
    "Account",
    "Line",
    "RankReport",
    "RankRow",
    "Site",
    "kept_reports",
    "merge",
    "read_rank",
    "read_ranks",
    "tell",
]
