"""What became of the collective calls of a program: ``hocket run --report``."""

from hocket.report.run.merge import Account, Line, merge
from hocket.report.run.ranks import RankReport, RankRow, Site, read_rank, read_ranks
from hocket.report.run.summary import tell

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
