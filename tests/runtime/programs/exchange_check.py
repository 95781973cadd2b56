"""Uses hocket.Exchange in many ways and checks every byte. Prints "ok" and the MPI from rank 0."""

from __future__ import annotations

import array
import os
import sys

import numpy as np
from mpi4py import MPI

import hocket
from hocket.errors import HocketError, TableError, UsageError

COMM = MPI.COMM_WORLD
RANK, RANKS = COMM.Get_rank(), COMM.Get_size()


def size(src: int, dst: int) -> int:
    return 8 * (1 + 500 * ((src * 5 + dst * 3) % 4)) if (src + 2 * dst) % 3 else 0


def message(src: int, dst: int, salt: int) -> np.ndarray:
    return np.random.default_rng((src, dst, salt)).integers(0, 2**63, size(src, dst) // 8)


def run(exchange: hocket.Exchange, salt: int) -> None:
    received = exchange.run([message(RANK, target, salt) for target in exchange.targets])
    compare(exchange, received, salt)


def compare(exchange: hocket.Exchange, received: list, salt: int) -> None:
    for source, got in zip(exchange.sources, received, strict=True):
        assert bytes(got) == message(source, RANK, salt).tobytes(), source


def refused(kind: type[Exception], part: str, call, *arguments, **options) -> None:
    try:
        call(*arguments, **options)
    except kind as error:
        assert part in str(error), error
        assert isinstance(error, HocketError)
    else:
        raise AssertionError(f"{part}: not refused")


def main(prefix: str) -> None:
    demand = {target: size(RANK, target) for target in reversed(range(RANKS)) if size(RANK, target)}
    with hocket.Exchange(COMM, demand, seed=5) as exchange:
        assert exchange.targets == demand and list(exchange.targets) == list(demand)
        assert exchange.sources == {r: size(r, RANK) for r in range(RANKS) if size(r, RANK)}
        assert exchange.seed == 5 and exchange.algorithm and exchange.ratio >= 0.999
        assert len({*COMM.allgather(exchange.digest)}) == 1
        phases = exchange.phases
        for source, total in exchange.sources.items():
            rows = phases[phases["receive_from"] == source]
            assert rows["receive_length"].sum() == (total if source != RANK else 0)
        for salt in range(3):
            run(exchange, salt)
        exchange.save(prefix)
        COMM.Barrier()

        # Given buffers of any kind, in steps.
        sends = [array.array("q", message(RANK, target, 9).tolist()) for target in exchange.targets]
        receives = [bytearray(total) for total in exchange.sources.values()]
        exchange.start(sends, receives)
        refused(UsageError, "under way", exchange.start, sends, receives)
        while not exchange.test():
            os.sched_yield()
        assert exchange.wait() is not receives
        compare(exchange, receives, 9)
        refused(UsageError, "nothing to wait for", exchange.wait)

        refused(UsageError, "buffers for", exchange.run, [b""] * (RANKS + 1))
        first = next(iter(exchange.targets))
        wrong = [bytes(total + (target == first)) for target, total in exchange.targets.items()]
        refused(UsageError, f"the send buffer of rank {first} has", exchange.run, wrong)
        strided = [np.zeros((total, 2), np.uint8)[:, 0] for total in exchange.targets.values()]
        refused(UsageError, "not contiguous", exchange.run, strided)
        constant = [bytes(total) for total in exchange.sources.values()]
        refused(UsageError, "read-only", exchange.run, sends, constant)
    exchange.free()

    with hocket.Exchange.load(COMM, prefix) as loaded:
        assert (loaded.phases == phases).all() and loaded.targets == demand
        loaded.check(demand)
        run(loaded, 4)
        other = dict(demand)
        if RANK == RANKS - 1:
            other[0] = 12345
        refused(TableError, "another destination vector", loaded.check, other)
    assert len(phases) == 0 or phases["phase"][0] == 0  # outlives its table
    refused(TableError, "cannot read", hocket.Exchange.load, COMM, prefix + ".no")

    with hocket.Exchange(COMM, [size(RANK, target) for target in range(RANKS)]) as dense:
        run(dense, 6)
    with hocket.Exchange(COMM, {}) as empty:
        assert empty.run([]) == [] and empty.ratio is None

    last = RANK == RANKS - 1
    refused(UsageError, "not a rank", hocket.Exchange, COMM, {RANKS if last else 0: 8})
    refused(UsageError, "sizes for", hocket.Exchange, COMM, [8] * (RANKS + last))
    refused(UsageError, "out of range", hocket.Exchange, COMM, {0: 2**70 if last else 8})
    refused(UsageError, "not understood", hocket.Exchange, COMM, {0: 0.5 if last else 8})
    refused(UsageError, "no-such", hocket.Exchange, COMM, {0: 8}, algorithm="no-such")
    refused(UsageError, "is not a communicator", hocket.Exchange, 42, {})
    print(f"{'ok ' + MPI.Get_library_version().splitlines()[0] if RANK == 0 else ''}")


if __name__ == "__main__":
    main(sys.argv[1])
