"""The two machines of the NICE paper, as networks and costs for the simulators.

``cm5(32)`` and ``ipsc(64)`` give a ``Machine``; ``machine.seconds(model, schedule, scheme)`` is the time of a
schedule of an irregular exchange by one of ``machine.models``: flows share channels fairly, circuits hold
their path and block each other.

Where the figures come from is said beside each. "Assumed" means: no measured value at hand, the order of
magnitude of its time. Ratios and orders are what these models are for, not microseconds.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import dataclass
from random import Random
from typing import Final

from hocket import _core, _papers

SCHEMES: Final = ("AC", "LP", "RS_N", "RS_NL", "RS_NH", "RS_NLH")
PACKETS: Final = 32  # of a message of mean size, where circuits are simulated: few enough to be fast


def in_order(schedule: _core.Schedule, shuffle: Random | None = None) -> _core.Schedule:
    """Every rank's messages one after the other, as they are or shuffled: its k-th message in phase k."""
    sent: dict[int, int] = defaultdict(int)
    transfers = schedule.rows()
    if shuffle is not None:
        shuffle.shuffle(transfers)
    rows = []
    for _, src, *rest in transfers:
        rows.append((sent[src], src, *rest))
        sent[src] += 1
    rows.sort(key=lambda row: row[0])
    return _core.Schedule.from_rows(schedule.ranks, schedule.message_bytes, rows)


def loosely_synchronous(schedule: _core.Schedule) -> _core.Waits:
    """A rank is in a phase until its send and its receive are over; a message goes when both ends are in its
    phase. Nobody waits for ranks that it does not meet."""
    hops = schedule.hops()
    latest: list[list[int]] = [[] for _ in range(schedule.ranks)]  # transfers of a rank's latest phase
    before = []
    for first, end in itertools.pairwise(schedule.phase_begin()):
        now = defaultdict(list)
        for transfer in range(first, end):
            src, dst = hops[transfer]
            earlier = {*latest[src], *latest[dst]}
            # The sender's own earlier sends come first anyway.
            before.append(sorted((t for t in earlier if hops[t][0] != src), reverse=True))
            now[src].append(transfer)
            now[dst].append(transfer)
        for rank, transfers in now.items():
            latest[rank] = transfers
    return _core.Waits.from_lists(before)


def with_processors(network: _core.Network, rate: float) -> _core.Network:
    """The network with one more channel per rank, its processor, which carries what the rank sends and what
    it receives: at `rate` together."""
    ranks, channels = network.ranks, network.channels
    names = [network.channel_name(c) for c in range(channels)]
    rates = [network.rate(c) for c in range(channels)]
    latencies = [network.latency(c) for c in range(channels)]
    routes = [
        (src, dst, [channels + src, *network.route(src, dst), channels + dst])
        for src, dst in itertools.permutations(range(ranks), 2)
    ]
    hosts = [f"n{rank}" for rank in range(ranks)]
    processors = [f"processor of {host}" for host in hosts]
    return _core.Network.routed(
        hosts, [1] * ranks, names + processors, rates + [rate] * ranks, latencies + [0.0] * ranks, routes
    )


@dataclass(frozen=True)
class Machine:
    name: str
    planned: _core.Network  # what algorithms see: nodes at the speed of sending while they receive
    network: _core.Network  # what is simulated
    pairs: _core.Network  # the same for exchanges by pairs
    alpha: float  # s per message
    token: float  # s until a sender knows that its receiver is ready
    models: tuple[str, ...]

    @property
    def ranks(self) -> int:
        return self.planned.ranks

    def plan(self, demand: _core.Demand, scheme: str, seed: int = 1) -> _core.Schedule:
        """A scheme of the registry, for this machine's per-message cost."""
        algorithm = _core.Algorithm.find(scheme, "irregular")
        return algorithm.make(self.planned, demand, self.alpha, seed)

    def seconds(self, model: str, schedule: _core.Schedule, scheme: str) -> float:
        """The time of the exchange. AC: everyone's messages leave one after the other, in the order of their
        receivers, and nobody waits for a receiver. All others go by phases, loosely synchronous."""
        simulate = {"flows": self._flows, "circuits": self._circuits}[model]
        return float(simulate(schedule, scheme).seconds)

    def _flows(self, schedule: _core.Schedule, scheme: str) -> _core.Simulation:
        """Nodes share their processor between what they send and what they receive; channels are shared
        fairly and nothing queues."""
        network = self.pairs if scheme == "LP" else self.network
        costs = _core.ModelParameters(alpha=self.alpha, token=self.token)
        if scheme == "AC":
            return self.asynchronous(in_order(schedule))
        return _core.simulate(network, schedule, loosely_synchronous(schedule), "token", costs)

    def asynchronous(self, schedule: _core.Schedule) -> _core.Simulation:
        """Simulate by flows, without waiting for receivers: messages of one phase leave together."""
        return _core.simulate(self.network, schedule, None, "free", _core.ModelParameters(alpha=self.alpha))

    def _circuits(self, schedule: _core.Schedule, scheme: str) -> _core.Simulation:
        """Worms in buffers for next to nothing: a message holds its path from its head to its end, also while
        it is blocked. Nodes send and receive at once. No tokens: a sender goes on when its message has
        arrived."""
        lengths = schedule.lengths()
        costs = _papers.WormholeParameters(
            payload=max(1, sum(lengths) // len(lengths) // PACKETS),
            buffer=1,
            switching="wormhole",
            alpha=self.alpha,
            blocking=scheme != "AC",
        )
        return _papers.simulate_wormhole(self.planned, schedule, "free", costs)


def cm5(ranks: int = 32) -> Machine:
    """Groups of 4, of 16 and of 32 nodes of a Connection Machine CM-5.

    Data network (Leiserson et al., The network architecture of the Connection Machine CM-5, SPAA 1992): 20
    MB/s from and to each node, 10 MB/s per node out of a group of 4, 5 MB/s per node out of a group of 16;
    packets of 20 bytes carry 16. Messages spread over the parallel ways up: each aggregate is one link here. A
    node has no DMA: its processor puts words into and takes them out of the network interface, at 15 MB/s of
    packets together (Bader and JáJá, Practical parallel algorithms for dynamic data redistribution, median
    finding and selection, 1995, quote 15 MB/s; that it is for both directions together is our reading).
    Per-message cost of a CMMD message, which includes asking the receiver: 88 µs, assumed. Flows only: in the wormhole
    model a packet from a slow port holds a fast channel for as long as it takes to leave the port, so that
    aggregates would be no faster than one link.
    """
    if ranks not in (16, 32):
        raise ValueError("the model of the CM-5 has 16 or 32 nodes")
    data = 16 / 20
    processor = 15e6 * data

    def tree(host_rate: float) -> _core.Network:
        groups, clusters = ranks // 4, ranks // 16
        names = ["root", *(f"c{i}" for i in range(clusters)), *(f"g{i}" for i in range(groups))]
        switches = len(names)
        links = [(1 + i, 0, 16 * 5e6 * data) for i in range(clusters)]
        links += [(1 + clusters + i, 1 + i // 4, 4 * 10e6 * data) for i in range(groups)]
        links += [(switches + i, 1 + clusters + i // 4, host_rate) for i in range(ranks)]
        names += [f"n{i}" for i in range(ranks)]
        a, b, rates = zip(*links, strict=True)
        on = [0] * switches + [1] * ranks
        return _core.Network.tree(names, on, list(a), list(b), list(rates), [0.0] * len(links))

    network = with_processors(tree(20e6 * data), processor)
    return Machine(f"CM-5, {ranks} nodes", tree(processor / 2), network, network, 88e-6, 0.0, ("flows",))


def ipsc(ranks: int = 64) -> Machine:
    """An Intel iPSC/860: a hypercube, e-cube routes, circuits.

    Bokhari (ICASE reports 91-4 and 91-5, which the paper cites; quoted second-hand): 95 µs per-message cost, 0.394 µs
    per byte, 10.3 µs per hop; making sure that a partner is ready takes 82.5 µs more. A node sends and
    receives at once only in an exchange of two that are synchronised (the paper, section 6): in LP; else one
    after the other, here at half the speed each.
    """
    rate = 1 / 0.394e-6
    cube = _core.Network.grid("hypercube", [ranks.bit_length() - 1], rate, 10.3e-6)
    network = with_processors(cube, rate)
    return Machine(f"iPSC/860, {ranks} nodes", cube, network, cube, 95e-6, 82.5e-6, ("flows", "circuits"))
