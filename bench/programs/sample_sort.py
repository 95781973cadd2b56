"""Particles that move to the rank of their cell in every step, and a sort of keys by samples: sizes new in every call.

python sample_sort.py KEYS_A_RANK STEPS
"""

import sys

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
keys, steps = map(int, sys.argv[1:])
draw = np.random.default_rng(comm.rank)
held = draw.random(keys)
for _ in range(steps):
    samples = np.sort(comm.allgather(np.quantile(held, (np.arange(comm.size) + 0.5) / comm.size)), axis=None)
    borders = samples[comm.size // 2 :: comm.size][1:]
    held.sort()
    send = np.diff(np.searchsorted(held, borders), prepend=0, append=len(held))
    receive = np.empty_like(send)
    comm.Alltoall(send, receive)
    sorted_keys = np.empty(receive.sum())
    comm.Alltoallv([held, send], [sorted_keys, receive])
    sorted_keys.sort()
    first = comm.allgather(sorted_keys[0])
    assert comm.rank == comm.size - 1 or sorted_keys[-1] <= first[comm.rank + 1]
    held = (sorted_keys * 7919 + draw.random(len(sorted_keys))) % 1  # moves all over again
