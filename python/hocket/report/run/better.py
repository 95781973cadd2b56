"""Advice about the order of a job's ranks, which its native calls depend on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from hocket import _core
from hocket.demand.collectives import COLLECTIVES
from hocket.order import DEFAULT_CALLS
from hocket.order.better import better_order, command_for
from hocket.order.formats import FORMATS
from hocket.report.run.merge import Account
from hocket.report.run.ranks import RankReport

_CALLS: Final = {
    call: name for name in DEFAULT_CALLS for call in COLLECTIVES[name].mpi_calls.split(", ")
}  # of a rank's report, to the collective
_NOTEWORTHY: Final = 0.05  # of the time in all calls


@dataclass(frozen=True, slots=True)
class Launched:
    """``source``: the file or short form of ``network``; ``form``: the format that the job's launcher reads; ``slurm``:
    its hosts are those of a Slurm job, else of ``hostfile``, else those that ranks tell."""

    network: _core.Network
    source: str
    form: str
    hostfile: str | None
    slurm: bool


@dataclass(frozen=True, slots=True)
class OrderAdvice:
    """``gain``: of native calls, by link rates; ``hosts``: in the better order; ``command``: prints it, for ``use``."""

    gain: float
    call: str
    call_gain: float
    hosts: list[str]
    command: str
    use: str
    text: str

    def as_json(self) -> dict[str, Any]:
        return {
            name: getattr(self, name) for name in ("gain", "call", "call_gain", "hosts", "command", "use")
        }


def order_advice(
    reports: Sequence[RankReport], account: Account, ranks: int, job: Launched
) -> OrderAdvice | None:
    """A better order for the collectives that the MPI library has served among all ranks, as scheduled calls do not
    depend on it; None if they took little time, if a rank tells no host of the network, or if no order is better."""
    calls = _native(account, ranks)
    if not calls:
        return None
    hosts = {report.rank: job.network.match_host([report.host]) for report in reports if not report.spawned}
    if set(hosts) != set(range(ranks)) or any(len(one) != 1 for one in hosts.values()):
        return None
    nodes = [hosts[rank][0] for rank in range(ranks)]
    better = better_order(job.network, nodes, calls)
    if better is None:
        return None
    command = command_for(
        job.source, job.form, hostfile=job.hostfile, slurm=job.slurm, hosts=sorted(better.hosts),
        ranks_per_host=ranks // len(better.hosts),
    )  # fmt: skip
    use = FORMATS[job.form].use
    text = f"{better.sentence()}: {command} > FILE; {use}"
    return OrderAdvice(better.gain, better.call, better.most, better.hosts, command, use, text)


def _native(account: Account, ranks: int) -> list[str]:
    """Collectives of all ranks that the library has served, if they took a noteworthy part of the time."""
    seconds: dict[str, float] = {}
    for line in account.lines:
        name = _CALLS.get(_blocking(line.call))
        if name is not None and not line.scheduled and line.communicator == ranks:
            seconds[name] = seconds.get(name, 0.0) + line.mean
    total = sum(line.mean for line in account.lines)
    return [name for name in DEFAULT_CALLS if seconds.get(name, 0.0) > _NOTEWORTHY * total]


def _blocking(call: str) -> str:
    """``MPI_Allgather`` for ``MPI_Iallgather``, ``MPI_Allgather_init_c``, ``MPI_Allgather_c``."""
    plain = call.removesuffix("_c").removesuffix("_init")
    return f"MPI_{plain[5:].capitalize()}" if plain.startswith("MPI_I") else plain
