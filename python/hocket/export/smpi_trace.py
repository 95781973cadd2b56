"""A time-independent trace that SimGrid's SMPI replays, and the network as a platform (SimGrid 3.32: ``smpirun
-replay``, src/smpi/internals/smpi_replay.cpp; platform XML, version 4.1).

What a rank does stands in the order that the simulator of Hocket's core expects: a trace cannot react to what comes
first. All receives are posted at once. A rank waits for the tokens of a send before it, and sends tokens of what it
receives as soon as that is in. Sizes are bytes, at least one: a receive of none would ask for the size first.

Every channel of the network becomes one SHARED link, so that the two directions of a wire are independent, and every
two hosts get their explicit route."""

import heapq
import itertools
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from hocket._core import Network
from hocket.errors import UsageError
from hocket.export.transfers import TOKEN_BYTES, Token, Transfers
from hocket.network.paths import own_routes

# Routes are written out, so the file grows with the square of the hosts.
MAX_HOSTS = 1024
# Speed of a host in flop/s: irrelevant for communication, but the format wants one.
_HOST_SPEED = "1Gf"


def platform_xml(network: Network) -> str:
    """The platform file of a network: hosts by their names, links by the names of the channels."""
    if len(network.hosts) > MAX_HOSTS:
        raise UsageError(
            f"a SimGrid platform with all routes of {len(network.hosts)} hosts would be too large",
            remedy=f"take a network of at most {MAX_HOSTS} hosts",
        )
    lines = [
        "<?xml version='1.0'?>",
        '<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">',
        '<platform version="4.1">',
        '  <zone id="hocket" routing="Full">',
        *_hosts(network),
        *_links(network),
        *_routes(network),
        "  </zone>",
        "</platform>",
    ]
    return "\n".join(lines) + "\n"


def hostfile(network: Network) -> str:
    """Lines with one host per rank, in rank order, for ``smpirun -hostfile``."""
    names = network.names
    for host in network.hosts:
        if re.search(r"[\s:#]", names[host]):
            raise UsageError(
                f"a host called {names[host]!r} cannot stand in a hostfile",
                remedy="rename it without blanks, colons and #",
            )
    return "".join(f"{names[network.host_of(rank)]}\n" for rank in range(network.ranks))


def _hosts(network: Network) -> Iterator[str]:
    names, ranks = network.names, network.ranks_per_node
    for host in network.hosts:
        yield f'    <host id={quoteattr(names[host])} speed="{_HOST_SPEED}" core="{ranks[host]}"/>'


def _links(network: Network) -> Iterator[str]:
    for channel in range(network.channels):
        yield (
            f"    <link id={quoteattr(link_name(network, channel))}"
            f' bandwidth="{network.rate(channel)!r}Bps" latency="{network.latency(channel)!r}s"'
            ' sharing_policy="SHARED"/>'
        )


def _routes(network: Network) -> Iterator[str]:
    names = network.names
    own = own_routes(network)
    uses = [f"<link_ctn id={quoteattr(link_name(network, c))}/>" for c in range(network.channels)]
    for src, dst in itertools.permutations(network.hosts, 2):
        route = "".join(uses[c] for c in own(src, dst))
        ends = f"src={quoteattr(names[src])} dst={quoteattr(names[dst])}"
        yield f'    <route {ends} symmetrical="NO">{route}</route>'


def link_name(network: Network, channel: int) -> str:
    """The name of a channel's link in the platform; unique even where channel names are not."""
    return f"{channel}:{network.channel_name(channel)}"


def files(plan: Transfers, output: str) -> dict[str, Iterator[str]]:
    """A trace for each rank, in a folder beside ``output``, the network as platform and the hosts of the ranks; and
    ``output``, which lists the traces by the paths that they are written to."""
    folder = Path(f"{output}_files")
    traces = [str(folder / f"{rank}.txt") for rank in range(plan.ranks)]
    actions = _Actions(plan)
    found: dict[str, Iterator[str]] = {output: iter(f"{trace}\n" for trace in traces)}
    found[str(folder / "platform.xml")] = iter([platform_xml(plan.network)])
    found[str(folder / "hosts")] = iter([hostfile(plan.network)])
    of_rank: list[list[tuple[int, bool]]] = [[] for _ in range(plan.ranks)]
    simulated = plan.simulated()
    for number, arrives in _in_time(plan, np.asarray(simulated.start), np.asarray(simulated.end)):
        transfer = plan.transfers[number]
        of_rank[transfer.dst if arrives else transfer.src].append((number, arrives))
    for rank, trace in enumerate(traces):
        found[trace] = actions.of(rank, of_rank[rank])
    return found


def _in_time(
    plan: Transfers, start: NDArray[np.float64], end: NDArray[np.float64]
) -> Iterator[tuple[int, bool]]:
    """Starts and arrivals (transfer, whether it arrives) by time, and nothing before what it waits for."""
    left = [1] * len(plan.transfers)  # causes of its start that are still to come, and one
    after: defaultdict[tuple[int, bool], list[int]] = defaultdict(list)
    for number in range(len(plan.transfers)):
        causes = [(cause, True) for cause in (*plan.before[number], *plan.over[number])]
        if plan.started[number] >= 0:
            causes.append((plan.started[number], False))
        for cause in causes:
            after[cause].append(number)
        left[number] += len(causes)
    ready: list[tuple[float, bool, int]] = []

    def let(number: int) -> None:
        left[number] -= 1
        if left[number] == 0:
            heapq.heappush(ready, (float(start[number]), False, number))

    for number in range(len(plan.transfers)):
        let(number)
    while ready:
        _, arrives, number = heapq.heappop(ready)
        yield number, arrives
        if not arrives:
            heapq.heappush(ready, (float(end[number]), True, number))
        for waiting in after[number, arrives]:
            let(waiting)


class _Actions:
    """The lines of each rank."""

    def __init__(self, plan: Transfers) -> None:
        self.plan = plan
        # Requests are found by sender, receiver and tag, so tags count the messages between two ranks.
        between: defaultdict[tuple[int, int], int] = defaultdict(int)

        def tag(src: int, dst: int) -> int:
            between[src, dst] += 1
            return between[src, dst]

        self.tags = [tag(transfer.src, transfer.dst) for transfer in plan.transfers]
        self.sent: defaultdict[int, list[tuple[Token, int]]] = defaultdict(list)  # by cause, with tags
        self.awaited: defaultdict[int, list[tuple[Token, int]]] = defaultdict(list)  # by effect
        self.tokens_of: list[list[tuple[Token, int]]] = [[] for _ in range(plan.ranks)]  # by receiver
        for token in plan.tokens():
            tagged = (token, tag(token.src, token.dst))
            self.sent[token.cause].append(tagged)
            self.awaited[token.effect].append(tagged)
            self.tokens_of[token.dst].append(tagged)

    def of(self, rank: int, order: list[tuple[int, bool]]) -> Iterator[str]:
        plan = self.plan
        yield f"{rank} init\n"
        for number in plan.receives[rank]:
            transfer = plan.transfers[number]
            yield f"{rank} irecv {transfer.src} {self.tags[number]} {max(transfer.bytes, 1)}\n"
        for token, tag in self.tokens_of[rank]:
            yield f"{rank} irecv {token.src} {tag} {TOKEN_BYTES}\n"
        for number, arrives in order:
            yield from self._arrival(number) if arrives else self._send(number)
        yield f"{rank} waitall\n{rank} finalize\n"

    def _arrival(self, number: int) -> Iterator[str]:
        transfer = self.plan.transfers[number]
        rank = transfer.dst
        yield f"{rank} wait {transfer.src} {rank} {self.tags[number]}\n"
        for token, tag in self.sent[number]:
            yield f"{rank} isend {token.dst} {tag} {TOKEN_BYTES}\n"

    def _send(self, number: int) -> Iterator[str]:
        """Its own receives that it waits for have been waited for before."""
        transfer = self.plan.transfers[number]
        rank = transfer.src
        for token, tag in self.awaited[number]:
            yield f"{rank} wait {token.src} {rank} {tag}\n"
        for own in self.plan.over[number]:
            yield f"{rank} wait {rank} {self.plan.transfers[own].dst} {self.tags[own]}\n"
        yield f"{rank} isend {transfer.dst} {self.tags[number]} {max(transfer.bytes, 1)}\n"
