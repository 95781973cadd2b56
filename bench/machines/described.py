"""Machines by name: what is public of them, the network of a job, and the costs that were fitted and frozen."""

from __future__ import annotations

import math
import sys
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Final

from cells import Job

from hocket import _core
from hocket.errors import UsageError
from model import Costs, Fabric, Habits

sys.path.insert(0, str(Path(__file__).parents[2] / "examples/machines"))
import fugaku
import leonardo

FROZEN: Final = Path(__file__).with_name("costs.toml")
PUBLIC_RATE: Final = 25e9  # bytes/s of a host of a machine that nobody has described: one port of 200 Gbit/s
UNKNOWN_RATE: Final = 16e9  # bytes/s: between one port of 100 and one of 200 Gbit/s
PUBLIC_MEMORY: Final = 200e9
SPREAD: Final = 37  # nodes apart: where a job's hosts lie whose names are unknown

Described = Callable[[Job], tuple[_core.Network, Sequence[int]]]


@dataclass(frozen=True)
class Machine:
    """``interface``: nominal bytes/s of each of a host's ``interfaces``; ``memory``: bytes/s of a host; ``network``
    of a job's hosts, and the place of each; ``guess``: costs where nothing is fitted; ``fitted``: names of the costs
    to fit."""

    name: str
    interface: float
    interfaces: int
    memory: float
    habits: Habits
    network: Described
    guess: Costs
    fitted: tuple[str, ...]

    def fabric(self, job: Job) -> Fabric:
        network, places = self.network(job)
        return Fabric(network, places, job.ranks_per_node, self.interface, self.interfaces, self.memory)


def _on_fugaku(job: Job) -> tuple[_core.Network, list[int]]:
    return fugaku.network(job.shape, job.ranks_per_node)


def _on_leonardo(job: Job) -> tuple[_core.Network, list[int]]:
    hosts = job.hosts or [f"lrdn{1 + at * SPREAD % 3456:04}" for at in range(job.nodes)]
    return leonardo.network(hosts, job.ranks_per_node)


def _full_bisection(job: Job) -> tuple[_core.Network, range]:
    """A star: only hosts' own links are shared."""
    nodes = job.nodes
    names, ranks = ["switch", *(f"n{at}" for at in range(nodes))], [0] + [job.ranks_per_node] * nodes
    ends = [*range(1, nodes + 1)], [0] * nodes
    return _core.Network.tree(names, ranks, *ends, [PUBLIC_RATE] * nodes, [5e-7] * nodes), range(nodes)


_MPI: Final = ("eager", "rendezvous", "rate", "streamed", "combine", "fresh")
DESCRIBED: Final = {
    "fugaku": Machine(
        "fugaku", fugaku.INTERFACE, fugaku.INTERFACES, fugaku.MEMORY,
        # High-bandwidth memory: no step at a cache's size. Large buffers are new memory from some size between 64 and
        # 512 MiB on.
        Habits(16384, cache=math.inf, cached=1.0, mapped=1 << 28),
        _on_fugaku, Costs(rate=6.1e9, streamed=1.0), ("eager", "rendezvous", "rate", "combine", "fresh", "port"),
    ),
    "leonardo": Machine(
        "leonardo", leonardo.INTERFACE, leonardo.INTERFACES, leonardo.MEMORY,
        Habits(), _on_leonardo, Costs(rate=22e9), _MPI,
    ),
}  # fmt: skip


@cache
def machine_of(name: str) -> Machine:
    """The machine of this name; for a name without description one of full bisection, whose costs are sought near those
    of Leonardo, a cluster of the usual kind."""
    if name.lower() in DESCRIBED:
        return DESCRIBED[name.lower()]
    guess = replace(frozen()["leonardo"][0], rate=UNKNOWN_RATE)
    return Machine(name, PUBLIC_RATE, 1, PUBLIC_MEMORY, Habits(), _full_bisection, guess, _MPI)


def frozen(path: Path = FROZEN) -> dict[str, tuple[Costs, tuple[str, ...]]]:
    """Costs of each machine, and the keys of the cells that they were fitted on."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        names = [one.name for one in fields(Costs)]
        return {
            machine: (Costs(**{name: float(entry[name]) for name in names}), tuple(entry["cells"]))
            for machine, entry in table.items()
        }
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as problem:
        raise UsageError(
            f"cannot use the costs in {path}: {problem}", remedy="restore the file, or fit them anew"
        ) from None
