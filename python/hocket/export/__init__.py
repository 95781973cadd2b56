"""The formats that plans are written in for other engines: a row each, and a module with ``files``."""

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, cast

from hocket.export.transfers import Transfers

Files = dict[str, Iterable[str]]


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its module, which is imported when it is used, and what it is for."""

    module: str
    summary: str

    def files(self, plan: Transfers, output: str) -> Files:
        """The texts of all files by path; one that names others comes first. Raises UsageError for a plan that the
        format cannot say."""
        write = cast(
            Callable[["Transfers", str], Files], importlib.import_module(f"hocket.export.{self.module}").files
        )
        return write(plan, output)


FORMATS: Final = {
    "goal": Format("goal", "GOAL, the text of LogGOPSim and ATLAHS"),
    "htsim": Format("htsim", "a connection matrix with triggers of csg-htsim"),
    "smpi-trace": Format("smpi_trace", "a time-independent trace of SimGrid's SMPI, its platform and hosts"),
    "msccl": Format("msccl", "XML of MSCCL, for GPUs"),
}
