"""A better order for a job that is there: how much it would gain, and the command that prints it."""

from __future__ import annotations

import itertools
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from ClusterShell.NodeSet import NodeSet, NodeSetException

from hocket import _core
from hocket.order.hosts import JobHosts
from hocket.order.job import Places, gain_of, order_job
from hocket.order.wanted import DEFAULT_CALLS, parse_wanted

WORTH: Final = 1.2  # times as fast; less is not worth a line
_MOST_RANKS: Final = 1 << 14  # ordered in a tenth of a second


@dataclass(frozen=True, slots=True)
class Better:
    """``gain``: times as fast as in the job's order, the geometric mean of its calls; ``most``: of ``call``, which
    gains most; ``hosts``: in the better order."""

    gain: float
    call: str
    most: float
    hosts: list[str]

    def sentence(self) -> str:
        return (
            f"in another order of its hosts this job's native calls would be {self.gain:.2g} times as fast by link "
            f"rates, {self.call} {self.most:.2g} times"
        )


def better_order(
    network: _core.Network, nodes: Sequence[int], collectives: Sequence[str] = DEFAULT_CALLS
) -> Better | None:
    """A better order of hosts for ranks on these nodes of the network, rank by rank; None if none is worth it."""
    counts = Counter(nodes)
    if len(counts) < 3 or len(nodes) > _MOST_RANKS:
        return None
    part = network.restricted_to([counts.get(node, 0) for node in range(network.nodes)])
    names = network.names
    job = JobHosts(part, list(counts), [names[node] for node in counts])
    wanted = parse_wanted(",".join(collectives), part.ranks, _core.REFERENCE_BYTES)
    order = order_job(job, wanted, whole_hosts=True)
    now = _places(part, nodes)
    gain = gain_of(part, now, order.place, wanted)
    if gain < WORTH:
        return None
    gains = [gain_of(part, now, order.place, [one]) ** (1 / one.call.weight) for one in wanted]
    most, call = max(zip(gains, wanted, strict=True), key=lambda pair: pair[0])
    return Better(gain, f"{call.collective} by {call.name}", most, [name for name, _ in order.blocks])


def _places(network: _core.Network, nodes: Sequence[int]) -> Places:
    """The place of each rank: the next one of its host."""
    counts = network.ranks_per_node
    ends = itertools.accumulate(counts[node] for node in network.hosts)
    free = {node: end - counts[node] for node, end in zip(network.hosts, ends, strict=True)}
    found = []
    for node in nodes:
        found.append(free[node])
        free[node] += 1
    return np.array(found, np.uint32)


def command_for(
    source: str,
    form: str,
    *,
    hostfile: str | None = None,
    slurm: bool = False,
    hosts: Sequence[str] = (),
    ranks_per_host: int = 1,
) -> str:
    """The command that prints the better order of a hostfile's hosts, of the Slurm job's or of the named ones."""
    words = ["hocket", "order", "--network", source, "--format", form]
    if hostfile is not None:
        words += ["--hosts", f"@{hostfile}"]
    elif slurm:
        words += ["--slurm"]
    elif hosts:
        words += ["--hosts", _folded(hosts)]
    if ranks_per_host > 1:
        words += ["--ranks-per-host", str(ranks_per_host)]
    return shlex.join(words)


def _folded(hosts: Sequence[str]) -> str:
    """``n[0-15]``; the given order does not matter to the order that is found but among equals."""
    try:
        return str(NodeSet.fromlist(hosts))
    except NodeSetException:
        return ",".join(hosts)
