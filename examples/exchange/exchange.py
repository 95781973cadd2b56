"""Every rank sends a few other ranks arrays of different sizes, by one schedule that is kept in files.

mpiexec -n 6 python exchange.py
"""

import numpy as np
from mpi4py import MPI

import hocket

comm = MPI.COMM_WORLD
rank, ranks = comm.Get_rank(), comm.Get_size()

# Outgoing arrays by target; the farther, the shorter.
out = {(rank + hop) % ranks: np.full(6000 // hop, rank, np.float64) for hop in range(1, min(ranks, 4))}

with hocket.Exchange(comm, {target: array.nbytes for target, array in out.items()}) as exchange:
    for _ in range(10):
        received = exchange.run(list(out.values()))
    for source, data in zip(exchange.sources, received, strict=True):
        assert (data.view(np.float64) == source).all()
    if rank == 0:
        print(f"rank 0 of {ranks}: {exchange.algorithm}, {exchange.phase_count} phases")
        print("gets", exchange.sources)
        for row in exchange.phases:
            print(f"phase {row['phase']}: to {row['send_to']:2}, from {row['receive_from']:2}")
    exchange.save("table")

# Another run of the program starts here; every rank finds its own file.
comm.Barrier()
with hocket.Exchange.load(comm, "table") as exchange:
    exchange.check({target: array.nbytes for target, array in out.items()})
    exchange.run(list(out.values()))
