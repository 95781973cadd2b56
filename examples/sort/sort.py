"""Sorts events by time, with what happened: mpiexec -n 4 python examples/sort/sort.py"""

import numpy as np
from mpi4py import MPI

import hocket

comm = MPI.COMM_WORLD
rng = np.random.default_rng(comm.rank)
times = rng.integers(0, 2**16, 1_000_000, dtype=np.uint16)
events = rng.integers(0, 256, (1_000_000, 6), dtype=np.uint8)  # 48 bits each

done = hocket.sort_report(comm, times, events, method="radix")

ends = comm.gather((len(done.keys), int(done.keys[0]), int(done.keys[-1])))
if comm.rank == 0:
    for rank, (count, first, last) in enumerate(ends):
        print(f"rank {rank}: {count} events from {first} to {last}")
    for step in done.steps:
        print(f"{step.name:16}{1e3 * step.seconds:8.2f} ms, expected {1e3 * step.predicted:8.2f}")
