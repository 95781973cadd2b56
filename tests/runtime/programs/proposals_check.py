"""Schedules exchanges by proposals between real ranks. Checks every byte, and that the phases are those that the core
finds when it simulates the ranks. Prints "ok" from rank 0."""

from __future__ import annotations

import sys

import numpy as np
from mpi4py import MPI

import hocket
from hocket import _core
from hocket.network import read_network

COMM = MPI.COMM_WORLD
RANK, RANKS = COMM.Get_rank(), COMM.Get_size()


def size(src: int, dst: int, salt: int) -> int:
    """About half of the pairs, with one rank that gets from everyone."""
    draw = (src * 7919 + dst * 104729 + salt * 31 + src * dst) % 11
    return 1 + 977 * draw if draw < 6 or dst == salt % RANKS else 0


def message(src: int, dst: int, salt: int) -> bytes:
    return np.random.default_rng((src, dst, salt)).bytes(size(src, dst, salt))


def simulated(salt: int) -> set[tuple[int, int, int]]:
    """(phase, sender, receiver) of every message."""
    pairs = [(a, b) for a in range(RANKS) for b in range(RANKS) if a != b and size(a, b, salt)]
    sizes = [size(a, b, salt) for a, b in pairs]
    demand = _core.Demand.irregular(RANKS, [a for a, _ in pairs], [b for _, b in pairs], sizes)
    if not pairs:
        return set()
    made = _core.find_scheduler("proposals", "irregular").make(
        read_network(f"star:{RANKS}"), demand, seed=salt
    )
    return {(row[0], row[1], row[2]) for row in made.rows()}


def check(salt: int) -> None:
    demand = {target: size(RANK, target, salt) for target in range(RANKS) if size(RANK, target, salt)}
    with hocket.Exchange(COMM, demand, scheduler="proposals", seed=salt) as exchange:
        assert exchange.scheduler == "proposals"
        assert exchange.sources == {r: size(r, RANK, salt) for r in range(RANKS) if size(r, RANK, salt)}
        phases = exchange.phases
        sent = {(int(row["phase"]), RANK, int(row["send_to"])) for row in phases if row["send_to"] >= 0}
        assert set().union(*COMM.allgather(sent)) == simulated(salt)
        for _ in range(3):
            received = exchange.run([message(RANK, target, salt) for target in exchange.targets])
            for source, got in zip(exchange.sources, received, strict=True):
                assert bytes(got) == message(source, RANK, salt), (source, RANK)


def main() -> None:
    for salt in range(1, 5):
        check(salt)
    with hocket.Exchange(COMM, {}, scheduler="proposals") as empty:
        assert empty.run([]) == []
    if RANK == 0:
        print("ok", MPI.Get_library_version().splitlines()[0])


if __name__ == "__main__":
    sys.exit(main())
