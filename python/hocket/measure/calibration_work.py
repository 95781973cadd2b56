"""Tasks of a calibration, given where the ranks are: decided by one rank, done by all."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, Self

from hocket import _core
from hocket.costs.calibration import FLOWS

SIZES: Final = (1, 1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18)
QUICK_SIZES: Final = (1, 1 << 12, 1 << 16)
FLOW_SIZES: Final = (1 << 13, 1 << 16, 1 << 18)
QUICK_FLOW_SIZES: Final = (1 << 16,)
EAGER_SIZES: Final = tuple(1 << power for power in range(9, 21))
LOADED: Final = (
    1 << 16,
    1 << 18,
)  # bytes of the messages under which tokens are measured, and what a byte takes
QUICK_LOADED: Final = (1 << 14, 1 << 16)
MOST_HOSTS: Final = 64  # that are looked at for distances and inter-switch links
_PAIRS, _QUICK_PAIRS = 3, 1  # of a class


class What(IntEnum):
    """runtime/include/hocket_network.h"""

    PING = 0
    SEND = 1
    RECEIVE = 2
    UNEXPECTED = 3
    FLOW = 4
    STEP = 5
    SENDRECV = 6


@dataclass(frozen=True, slots=True)
class Task:
    """Task of measuring one thing. ``sends``: target of each rank with a part in it, ``leaders``: ranks whose
    times count."""

    what: What
    bytes: int
    sends: dict[int, int]
    leaders: tuple[int, ...]
    kind: str  # for the one that reads the times
    number: int = 0  # of the class, or flows


@dataclass(frozen=True, slots=True)
class Places:
    """Places of the ranks. ``nodes``: of the network, or without one a number for each host."""

    nodes: Sequence[int]
    network: _core.Network | None
    first: dict[int, int]  # of each node, a rank on it
    place: dict[int, int]  # of each node, the network's number of its first rank

    @classmethod
    def of(cls, nodes: Sequence[int], network: _core.Network | None) -> Self:
        first = {node: rank for rank, node in reversed(list(enumerate(nodes)))}
        place = {}
        if network is not None:
            place = {network.host_of(rank): rank for rank in reversed(range(network.ranks))}
        return cls(nodes, network, dict(sorted(first.items(), key=lambda item: item[1])), place)

    @property
    def hosts(self) -> list[int]:
        """First rank of each host, or of as many hosts as are enough for every distance."""
        found = list(self.first.values())
        return found[:: max(len(found) // MOST_HOSTS, 1)]

    @property
    def most_ranks_on_a_host(self) -> int:
        return max(Counter(self.nodes).values())

    def route(self, a: int, b: int) -> list[int]:
        """Channels between two ranks on different hosts of the network."""
        assert self.network is not None
        return list(self.network.route(self.place[self.nodes[a]], self.place[self.nodes[b]]))

    def links(self, a: int, b: int) -> int | None:
        if self.nodes[a] == self.nodes[b]:
            return 0
        return None if self.network is None else len(self.route(a, b))


def classes(places: Places, quick: bool) -> dict[int | None, list[tuple[int, int]]]:
    """Pairs of ranks at each distance, nearest first; each rank is in few of them."""
    found: dict[int | None, list[tuple[int, int]]] = defaultdict(list)
    by_host = defaultdict(list)
    for rank, node in enumerate(places.nodes):
        by_host[node].append(rank)
    found[0] = [(ranks[0], ranks[1]) for ranks in by_host.values() if len(ranks) > 1]
    hosts = places.hosts
    for i, a in enumerate(hosts):
        for b in hosts[i + 1 :]:
            found[places.links(a, b)].append((a, b))
    most = _QUICK_PAIRS if quick else _PAIRS
    spread = {links: pairs[:: max(len(pairs) // most, 1)][:most] for links, pairs in found.items() if pairs}
    return dict(sorted(spread.items(), key=lambda item: -1 if item[0] is None else item[0]))


def tasks(places: Places, quick: bool) -> list[Task]:
    """Tasks of the calibration, the most important first."""
    todo: list[Task] = []
    by_distance = classes(places, quick)
    for number, pairs in enumerate(by_distance.values()):
        for a, b in pairs:
            todo += [Task(What.PING, size, {a: b}, (a,), "ping", number) for size in (1, 1 << 16)]
            todo += [Task(what, 1, {a: b}, (a,), name, number)
                     for name, what in (("send", What.SEND), ("receive", What.RECEIVE))]  # fmt: skip
    todo += _steps(places, quick)
    todo += _into_one_host(places, quick)
    todo += _over_a_switch_link(places, quick)
    for number, pairs in enumerate(by_distance.values()):
        for a, b in pairs:
            todo += [Task(What.PING, size, {a: b}, (a,), "ping", number)
                     for size in (QUICK_SIZES if quick else SIZES) if size not in (1, 1 << 16)]  # fmt: skip
    a, b = next(
        (pairs[0] for links, pairs in by_distance.items() if links != 0), next(iter(by_distance.values()))[0]
    )
    todo += [Task(What.UNEXPECTED, size, {a: b}, (a,), "eager") for size in EAGER_SIZES]
    return todo


def in_turn(places: Places) -> dict[int, int]:
    """The rank that follows each one round the hosts in the network's order, so that few messages share a wire."""
    order = sorted(range(len(places.nodes)), key=lambda rank: (places.place.get(places.nodes[rank], 0), rank))
    return dict(zip(order, [*order[1:], order[0]], strict=True))


def _steps(places: Places, quick: bool) -> list[Task]:
    """Tasks in which all ranks send at once, each to the next one."""
    everybody = in_turn(places)
    sizes = (1, *(QUICK_LOADED if quick else LOADED))
    steps = [Task(What.STEP, size, everybody, tuple(everybody), "step") for size in sizes]
    return [*steps, Task(What.SENDRECV, 1, everybody, tuple(everybody), "sendrecv")]


def _into_one_host(places: Places, quick: bool) -> list[Task]:
    """Flows from other hosts into the first rank of one; of a single host, between its ranks."""
    hosts = places.hosts
    target, others = (hosts[0], hosts[1:]) if len(hosts) > 1 else (0, list(range(1, len(places.nodes))))
    if places.network is not None and len(hosts) > 1:
        others.sort(key=lambda rank: len(places.route(rank, target)))
    return [
        Task(What.FLOW, size, dict.fromkeys(others[:flows], target), (target,), "host", flows)
        for size in (QUICK_FLOW_SIZES if quick else FLOW_SIZES)
        for flows in FLOWS
        if flows <= len(others)
    ]


def _over_a_switch_link(places: Places, quick: bool) -> list[Task]:
    """Pairs of hosts whose routes have a channel between switches in common, as many as a channel has."""
    found = switch_link_pairs(places)
    return [
        Task(What.FLOW, size, dict(found[:flows]), tuple(b for _, b in found[:flows]), "switch_link", flows)
        for size in (QUICK_FLOW_SIZES if quick else FLOW_SIZES)
        for flows in FLOWS
        if flows <= len(found)
    ]


def switch_link_pairs(places: Places) -> list[tuple[int, int]]:
    """Sender and receiver of each flow: no host is in two of them. Inter-switch links that carry several hosts are no
    bottleneck of so few flows, and are left out."""
    if (network := places.network) is None:
        return []
    across: dict[int, list[tuple[int, int]]] = defaultdict(list)
    hosts = places.hosts
    for a in hosts:
        for b in hosts:
            for channel in places.route(a, b)[1:-1] if a != b else ():
                if network.rate(channel) < 1.5 * network.host_rate:
                    across[channel].append((a, b))
    best: list[tuple[int, int]] = []
    for pairs in across.values():
        used: set[int] = set()
        chosen = []
        for a, b in pairs:
            if a not in used and b not in used:
                chosen.append((a, b))
                used |= {a, b}
        if len(chosen) > len(best):
            best = chosen
    return best[: FLOWS[-1]]
