"""What became of the collective calls of a program: ``hocket run --report``."""

from hocket.run_report.merge import Account, Line, merge
from hocket.run_report.ranks import RankReport, RankRow, Site, read_rank, read_ranks
from hocket.run_report.summary import tell

__all__ = [
    "Account",
    "Line",
    "RankReport",
    "RankRow",
    "Site",
    "merge",
    "read_rank",
    "read_ranks",
    "tell",
]
