"""Collective calls that are measured: buffers that know what must arrive, and what no schedule can beat."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

from hocket import _core
from hocket.demand import collectives
from hocket.measure.bench_rows import EQUAL_CALLS
from hocket.order.gains import places_of

Bytes = npt.NDArray[np.uint8]
Blocks = list[tuple[int, int]]  # the other rank, and bytes


def message(source: int, target: int, begin: int, end: int) -> Bytes:
    """Bytes ``begin`` to ``end`` of the message from one rank to another: each pair of ranks has its own."""
    key = (source * 0x9E3779B1 + target * 0x85EBCA77 + 0x1B873593) & 0xFFFFFFFF
    mixed = (np.arange(begin, end, dtype=np.uint32) + np.uint32(key)) * np.uint32(0xC2B2AE35)
    return ((mixed ^ (mixed >> np.uint32(15))) >> np.uint32(11)).astype(np.uint8)


class Exchange:
    """A collective call, and buffers that know what must arrive. Sizes and offsets are bytes."""

    operation: tuple[MPI.Op, ...] = ()

    def __init__(
        self, comm: MPI.Intracomm, call: str, sent: Blocks, received: Blocks, *, for_all: bool = False
    ) -> None:
        """``call``: the method of mpi4py's communicators; ``sent``: target and bytes of each block, as they lie in the
        buffer; ``received``: source and bytes. ``for_all``: what a rank sends is the same for all, as if for rank 0."""
        self.rank = comm.Get_rank()
        self.target = 0 if for_all else self.rank  # of what comes in, as its senders name it
        self._call = call
        self.blocks = received
        self.send = np.concatenate(
            [np.empty(0, np.uint8), *(message(self.rank, target, 0, size) for target, size in sent)]
        )
        self.receive = np.empty(sum(size for _, size in received), np.uint8)

    def call(self, comm: MPI.Intracomm) -> None:
        getattr(comm, self._call)([self.send, MPI.BYTE], [self.receive, MPI.BYTE], *self.operation)

    def expected(self, source: int, size: int) -> Bytes:
        """Expected content of an incoming block."""
        return message(source, self.target, 0, size)

    def poison(self) -> None:
        """Makes every byte wrong, so that what does not arrive is noticed."""
        at = 0
        for source, size in self.blocks:
            np.invert(self.expected(source, size), out=self.receive[at : at + size])
            at += size

    def wrong(self) -> str:
        """The first byte that is not what its sender sent; empty if there is none."""
        at = 0
        for source, size in self.blocks:
            expected, got = self.expected(source, size), self.receive[at : at + size]
            if not np.array_equal(expected, got):
                byte = int(np.flatnonzero(expected != got)[0])
                return (
                    f"byte {byte} of the {size} from rank {source} to rank {self.rank} is "
                    f"0x{got[byte]:02x}, not 0x{expected[byte]:02x}"
                )
            at += size
        return ""


class AllToAllV(Exchange):
    def __init__(self, comm: MPI.Intracomm, sizes: npt.NDArray[np.int64]) -> None:
        rank = comm.Get_rank()
        out, into = sizes[rank].tolist(), sizes[:, rank].tolist()
        super().__init__(comm, "Alltoallv", list(enumerate(out)), list(enumerate(into)))
        self._out, self._into = self._layout(out), self._layout(into)

    @staticmethod
    def _layout(sizes: list[int]) -> tuple[list[int], list[int]]:
        return sizes, [0, *np.cumsum(sizes[:-1]).tolist()]

    def call(self, comm: MPI.Intracomm) -> None:
        comm.Alltoallv([self.send, self._out, MPI.BYTE], [self.receive, self._into, MPI.BYTE])


class Broadcast(Exchange):
    """Broadcast from rank 0, whose buffer is filled again before each call."""

    def call(self, comm: MPI.Intracomm) -> None:
        if self.rank == 0:
            self.receive[:] = self.send
        comm.Bcast([self.receive, MPI.BYTE])


class Sum(Exchange):
    """Reduction of bytes without carry (exclusive or), whose result does not depend on the order."""

    operation = (MPI.BXOR,)

    def __init__(self, comm: MPI.Intracomm, call: str, sent: Blocks, received: Blocks) -> None:
        super().__init__(comm, call, sent, received)
        self._sums = {block: np.zeros(size, np.uint8) for block, size in received}
        for block, size in received:
            for rank in range(comm.Get_size()):
                self._sums[block] ^= message(rank, block, 0, size)

    def expected(self, source: int, size: int) -> Bytes:
        return self._sums[source]


def exchange_of(comm: MPI.Intracomm, pattern: str, size: int) -> Exchange:
    """The call of a collective whose blocks have ``size`` bytes each; the root, where there is one, is rank 0."""
    rank, call = comm.Get_rank(), EQUAL_CALLS[pattern].removeprefix("MPI_")
    each, one = [(other, size) for other in range(comm.Get_size())], [(0, size)]
    each_at_root, one_at_root = (each, one) if rank == 0 else ([], [])
    sent, received = {
        collectives.ALL_TO_ALL: (each, each),
        collectives.ALL_GATHER: (one, each),
        collectives.REDUCE_SCATTER: (each, [(rank, size)]),
        collectives.ALL_REDUCE: (one, one),
        collectives.BROADCAST: (one_at_root, one),
        collectives.REDUCE: (one, one_at_root),
        collectives.GATHER: (one, each_at_root),
        collectives.SCATTER: (each_at_root, one),
    }[pattern]
    if pattern in (collectives.REDUCE_SCATTER, collectives.ALL_REDUCE, collectives.REDUCE):
        return Sum(comm, call, sent, received)
    kind = Broadcast if pattern == collectives.BROADCAST else Exchange
    return kind(
        comm, call, sent, received, for_all=pattern in (collectives.ALL_GATHER, collectives.BROADCAST)
    )


def nodes_of_ranks(network: _core.Network, processors: Sequence[str], placement: str) -> Sequence[int] | None:
    """The node of each rank, given the processor names and HOCKET_PLACEMENT; None if some are unknown.

    ``order`` follows the places of the network; otherwise processors go by the names of hosts, whole or up to the first
    dot. Slurm's names and placement files are the runtime's to read."""
    if placement == "order":
        inside = len(processors) <= network.ranks
        return [network.host_of(rank) for rank in range(len(processors))] if inside else None
    if placement not in ("", "names"):
        return None
    found = [network.match_host([name]) for name in processors]
    return [hosts[0] for hosts in found] if all(len(hosts) == 1 for hosts in found) else None


def bound_seconds(
    network: _core.Network,
    nodes: Sequence[int] | None,
    ranks: int,
    pattern: str,
    size: int,
    sizes: npt.NDArray[np.int64] | None = None,
) -> float | None:
    """Seconds; None if that is unknown. ``sizes``: of an irregular exchange, bytes from row to column.

    Where ranks are does not matter to an exchange of equal messages that fills the network, but for the root, rank 0.
    """
    if nodes is None and (ranks != network.ranks or sizes is not None):
        return None
    used = network
    if nodes is not None:
        counts = np.bincount(nodes, minlength=len(network.ranks_per_node))
        if (counts > np.asarray(network.ranks_per_node)).any():
            return None
        used = network.restricted_to([int(count) for count in counts])
    if sizes is None:
        root = 0 if nodes is None else int(places_of(used, nodes)[0])
        demand = collectives.COLLECTIVES[pattern].demand(ranks, size, root)
    else:
        assert nodes is not None
        places = places_of(used, nodes)
        source, target = np.nonzero(sizes)
        demand = _core.Demand.irregular(
            ranks, places[source].tolist(), places[target].tolist(), sizes[source, target].tolist()
        )
    return float(_core.lower_bounds(used, demand).seconds)
