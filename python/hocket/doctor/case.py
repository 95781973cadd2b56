"""The case under examination, and what earlier checks have found out about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hocket import _core
from hocket.launch.mpi import Abi, Mpi
from hocket.launch.runtime.build import Runtime
from hocket.launch.runtime.wrapper import Wrapper
from hocket.network import Defaults


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

    ``environment``: of this process and so of its ranks. ``ranks`` None: as many as the network has places
    for, but few. ``seconds``: the longest that one start of ranks may take. ``defaults``: what the network
    leaves open. ``ready``: a runtime that need not be compiled. ``probe``: the command of each rank.
    """

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
