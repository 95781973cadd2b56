"""Hosts of a job in their given order, and the part of a network that they are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hocket import _core
from hocket.errors import UsageError
from hocket.network.chosen import Named, expand, listed_names, slurm_lists
from hocket.network.description import suggestion
from hocket.network.source import Source, shown

_TASKS: Final = re.compile(r"(\d{1,9})(?:\(x(\d{1,9})\))?", re.ASCII)
_MOST_SHOWN: Final = 8
_MOST_RANKS: Final = 65_536  # of a host


@dataclass(frozen=True, slots=True)
class JobHosts:
    """``nodes[i]``: the network's node for host i of the job, which whoever starts the ranks calls ``names[i]``.
    ``network``: the whole, with ranks on these hosts alone."""

    network: _core.Network
    nodes: list[int]
    names: list[str]

    def name_of(self) -> dict[int, str]:
        """The job's name for each node."""
        return dict(zip(self.nodes, self.names, strict=True))


def whole_network(network: _core.Network, ranks: int | None) -> JobHosts:
    """All hosts in the network's order. ``ranks``: of each host; None: as the network says."""
    nodes = list(network.hosts)
    names = network.names
    return _job(network, nodes, [names[node] for node in nodes], ranks)


def listed_job(network: _core.Network, text: str, ranks: int | None) -> JobHosts:
    """The hosts that ``--hosts`` lists: ``n[0-15]``, ``@FILE`` or ``-``. A host that stands several times in a node
    file has as many ranks. Raises :class:`hocket.errors.HocketError` for names that the network lacks, and for a host
    that is named twice elsewhere."""
    listed = list(listed_names(text))
    times = Counter(one.name for one in listed)
    if len(times) == len(listed) or not all(one.counts for one in listed):
        return _named_job(network, listed, ranks)
    once = list({one.name: one for one in listed}.values())
    return _named_job(network, once, list(times.values()) if ranks is None else ranks)


def slurm_job(network: _core.Network, environ: Mapping[str, str], ranks: int | None) -> JobHosts:
    """The hosts of the Slurm job that this process is of, with as many ranks as Slurm gives tasks to each."""
    groups = slurm_lists(environ)
    if not groups:
        raise UsageError(
            "--slurm: SLURM_JOB_NODELIST is not set, so this is no job of Slurm",
            remedy="call it in a job's script or within salloc, or give --hosts LIST",
        )
    lists = [[Named(name, source, 0) for name in expand(source.text, source)] for source, _ in groups]
    names = [name for listed in lists for name in listed]
    tasks = {end: environ.get(f"SLURM_TASKS_PER_NODE{end}", "") for _, end in groups}
    if ranks is not None or not all(tasks.values()):
        return _named_job(network, names, ranks)
    counts = []
    for listed, (end, text) in zip(lists, tasks.items(), strict=True):
        own = _tasks(f"SLURM_TASKS_PER_NODE{end}", text)
        if len(own) != len(listed):
            raise UsageError(
                f"SLURM_TASKS_PER_NODE{end} {shown(text)} is of {len(own)} hosts, SLURM_JOB_NODELIST{end} of "
                f"{len(listed)}",
                remedy="say --ranks-per-host",
            )
        counts += own
    return _named_job(network, names, counts)


def _tasks(name: str, text: str) -> list[int]:
    """Ranks of each host from Slurm's ``2(x3),1``."""
    counts: list[int] = []
    for part in text.split(","):
        match = _TASKS.fullmatch(part)
        if match is None or not 1 <= int(match[1]) <= _MOST_RANKS or int(match[2] or 1) > 10**6:
            raise UsageError(
                f"{name} is {shown(text)}, which is not like 2(x3),1",
                remedy="say --ranks-per-host",
            )
        counts += [int(match[1])] * int(match[2] or 1)
    return counts


def _named_job(network: _core.Network, listed: Sequence[Named], ranks: int | list[int] | None) -> JobHosts:
    known = network.names
    exact = {known[node]: node for node in network.hosts}
    short: dict[str, list[int]] = {}
    for name, node in exact.items():
        short.setdefault(name.partition(".")[0], []).append(node)
    taken: dict[int, Named] = {}
    counts: dict[int, int] = {}
    unknown: list[Named] = []
    for number, one in enumerate(listed):
        alike = [exact[one.name]] if one.name in exact else short.get(one.name.partition(".")[0], [])
        if len(alike) != 1:
            unknown.append(one)
            continue
        if isinstance(ranks, list):
            counts[alike[0]] = counts.get(alike[0], 0) + ranks[number]
        if (first := taken.setdefault(alike[0], one)) is not one and not counts:
            raise one.source.error(
                f"host {shown(one.name)} is named twice"
                + (f", first in line {first.line}" if first.line else ""),
                one.line,
                "name each host once; --ranks-per-host says how many ranks it has",
            )
    if unknown:
        raise _lacks(unknown, len(listed), exact)
    names = [one.name for one in taken.values()]
    return _job(network, list(taken), names, counts if isinstance(ranks, list) else ranks)


def _lacks(unknown: Sequence[Named], listed: int, known: Iterable[str]) -> Exception:
    first = unknown[0]
    if listed == len(unknown) == 1:
        what = f"no host of the network is called {shown(first.name)}"
    elif listed == len(unknown):
        what = f"the network knows none of the {listed:,} hosts: {_some(unknown)}"
    else:
        what = (
            f"the network knows {listed - len(unknown):,} of the {listed:,} hosts, but not {_some(unknown)}"
        )
    remedy = (
        suggestion(first.name, list(known)) or "add them to the network file, or leave them out of the job"
    )
    return first.source.error(what, first.line, remedy)


def _some(unknown: Sequence[Named]) -> str:
    listed = ", ".join(shown(one.name)[1:-1] for one in unknown[:_MOST_SHOWN])
    return listed + (f" and {len(unknown) - _MOST_SHOWN:,} more" if len(unknown) > _MOST_SHOWN else "")


def _job(
    network: _core.Network, nodes: list[int], names: list[str], ranks: int | dict[int, int] | None
) -> JobHosts:
    own = network.ranks_per_node
    counts = (
        ranks if isinstance(ranks, dict) else {node: own[node] if ranks is None else ranks for node in nodes}
    )
    try:
        part = network.restricted_to([counts.get(node, 0) for node in range(network.nodes)])
    except _core.InputError as problem:
        raise UsageError(
            f"the job does not fit the network: {problem}", remedy="give fewer ranks a host"
        ) from None
    return JobHosts(part, nodes, names)


def job_of(network: _core.Network, hosts: Sequence[tuple[str, int]]) -> JobHosts:
    """A job on hosts of these names, each with so many ranks."""
    source = Source("the job", "", is_file=False)
    return _named_job(network, [Named(name, source, 0) for name, _ in hosts], [ranks for _, ranks in hosts])
