"""Three programs of the kinds that call Alltoallv and Alltoallw, by mpi4py; each checks its own result.

python applications.py pencils SIDE TRANSFORMS | gradients ROWS_A_RANK STEPS | sort KEYS_A_RANK TIMES
"""

import sys

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD


def pencils(side: int, transforms: int) -> None:
    """Transforms in three dimensions and back by mpi4py-fft: Alltoallw on the rows and columns of a grid of ranks."""
    from mpi4py_fft import PFFT, newDistArray

    fft = PFFT(comm, (side, side, side), axes=(0, 1, 2), dtype=np.complex128, grid=(-1,))
    there = newDistArray(fft, False)
    there[:] = np.random.default_rng(comm.rank).standard_normal(there.shape)
    before = there.copy()
    for _ in range(transforms):
        there[:] = fft.backward(fft.forward(there))
    assert comm.allreduce(float(abs(there - before).max()), MPI.MAX) < 1e-10


def gradients(mine: int, steps: int) -> None:
    """Conjugate gradients, a matrix without a pattern: Alltoallv of the elements that rows need, and two sums."""
    from scipy.sparse import coo_array

    rows = mine * comm.size
    draw = np.random.default_rng(1)  # the same matrix on all ranks, of which each keeps its rows
    ends = draw.integers(rows, size=(2, 4 * rows))
    ends = np.concatenate([ends, ends[::-1]], axis=1)  # symmetric
    here = ends[0] // mine == comm.rank
    own, column = ends[0, here] - comm.rank * mine, ends[1, here]
    is_far = column // mine != comm.rank
    needed = np.unique(column[is_far])
    receive = np.bincount(needed // mine, minlength=comm.size)
    send = np.empty_like(receive)
    comm.Alltoall(receive, send)
    asked = np.empty(send.sum(), dtype=needed.dtype)
    comm.Alltoallv([needed, receive], [asked, send])
    asked -= comm.rank * mine
    place = np.where(is_far, mine + np.searchsorted(needed, column), column - comm.rank * mine)
    matrix = coo_array((np.full(len(own), -1.0), (own, place)), shape=(mine, mine + len(needed))).tocsr()
    diagonal = np.bincount(own, minlength=mine) + 1.0

    def product(x: np.ndarray) -> np.ndarray:
        far = np.empty(len(needed))
        comm.Alltoallv([x[asked], send], [far, receive])
        return diagonal * x + matrix @ np.concatenate([x, far])

    def dot(a: np.ndarray, b: np.ndarray) -> float:
        return float(comm.allreduce(float(a @ b)))

    wanted = np.random.default_rng([2, comm.rank]).standard_normal(mine)
    x, residual = np.zeros(mine), wanted.copy()
    direction, square = residual.copy(), dot(residual, residual)
    for _ in range(steps):
        moved = product(direction)
        step = square / dot(direction, moved)
        x += step * direction
        residual -= step * moved
        square, before = dot(residual, residual), square
        direction = residual + square / before * direction
    assert abs(product(x) - wanted).max() < 1e-6


def sort(keys: int, times: int) -> None:
    """Keys sorted by samples, moved all over, and sorted again: Alltoallv of sizes that are new in every call."""
    draw = np.random.default_rng(comm.rank)
    held = draw.random(keys)
    for _ in range(times):
        quantiles = np.quantile(held, (np.arange(comm.size) + 0.5) / comm.size)
        borders = np.sort(comm.allgather(quantiles), axis=None)[comm.size // 2 :: comm.size][1:]
        held.sort()
        send = np.diff(np.searchsorted(held, borders), prepend=0, append=len(held))
        receive = np.empty_like(send)
        comm.Alltoall(send, receive)
        ordered = np.empty(receive.sum())
        comm.Alltoallv([held, send], [ordered, receive])
        ordered.sort()
        first = comm.allgather(ordered[0])
        assert comm.rank == comm.size - 1 or ordered[-1] <= first[comm.rank + 1]
        held = (ordered * 7919 + draw.random(len(ordered))) % 1


{"pencils": pencils, "gradients": gradients, "sort": sort}[sys.argv[1]](*map(int, sys.argv[2:]))
