"""The case that is examined, what earlier checks have found out about it, and findings, one thing each."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from hocket import _core
from hocket.errors import HocketError
from hocket.launch.mpi import Abi, Mpi
from hocket.launch.runtime.build import Runtime
from hocket.launch.runtime.compiling import Wrapper
from hocket.network import Defaults


class Level(StrEnum):
    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """``topic``: what was looked at; empty: what the check is about. Problems, and some notes, have a remedy: what to
    do."""

    level: Level
    topic: str
    text: str
    remedy: str = ""


def ok(text: str) -> Finding:
    return Finding(Level.OK, "", text)


def note(text: str, remedy: str = "") -> Finding:
    return Finding(Level.NOTE, "", text, remedy)


def problem(text: str, remedy: str) -> Finding:
    return Finding(Level.PROBLEM, "", text, remedy)


def problem_of(error: HocketError) -> Finding:
    where = f"{error.where}: " if error.where else ""
    return problem(where + error.what, error.remedy)


@dataclass(frozen=True, slots=True)
class Rank:
    """One rank's answer to the probe."""

    rank: int
    right: bool
    name: str
    slurm_name: str


@dataclass(slots=True)
class Case:
    """The first part is what the user says; what stays None could not be found out.

    ``environment``: of this process and so of its ranks. ``ranks`` None: as many as the network has places for, but
    few. ``seconds``: the longest that one start of ranks may take. ``defaults``: what the network leaves open.
    ``ready``: a runtime that need not be compiled. ``probe``: the command of each rank."""

    environment: Mapping[str, str]
    network_file: str | None = None
    mpi_name: str | None = None
    abi: Abi = Abi.NATIVE
    placement: str = "names"
    ranks: int | None = None
    hostfile: str | None = None
    plans: tuple[Path, ...] = ()
    seconds: float = 60.0
    defaults: Defaults = field(default_factory=Defaults)

    mpi: Mpi | None = None
    wrapper: Wrapper | None = None
    ready: Runtime | None = None
    runtime: Runtime | None = None
    network: _core.Network | None = None
    probe: list[str] | None = None
    ranks_told: list[Rank] = field(default_factory=list)
