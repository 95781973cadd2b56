"""Conjugate gradients, a sparse matrix without a pattern: Alltoallv of the elements that rows need, and two sums.

python conjugate_gradients.py ROWS_A_RANK ITERATIONS
"""

import sys

import numpy as np
from mpi4py import MPI
from scipy.sparse import coo_array

comm = MPI.COMM_WORLD
mine, iterations = map(int, sys.argv[1:])
rows = mine * comm.size
draw = np.random.default_rng(1)  # the same matrix on all ranks, of which each keeps its rows
ends = draw.integers(rows, size=(2, 4 * rows))
ends = np.concatenate([ends, ends[::-1]], axis=1)  # symmetric
here = ends[0] // mine == comm.rank
own, column = ends[0, here] - comm.rank * mine, ends[1, here]
needed = np.unique(column[column // mine != comm.rank])
receive = np.bincount(needed // mine, minlength=comm.size)
send = np.empty_like(receive)
comm.Alltoall(receive, send)
asked = np.empty(send.sum(), dtype=needed.dtype)
comm.Alltoallv([needed, receive], [asked, send])
asked -= comm.rank * mine
place = np.where(
    column // mine == comm.rank, column - comm.rank * mine, mine + np.searchsorted(needed, column)
)
values = np.full(len(own), -1.0)
matrix = coo_array((values, (own, place)), shape=(mine, mine + len(needed))).tocsr()
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
for _ in range(iterations):
    moved = product(direction)
    step = square / dot(direction, moved)
    x += step * direction
    residual -= step * moved
    square, before = dot(residual, residual), square
    direction = residual + square / before * direction
assert abs(product(x) - wanted).max() < 1e-6, "does not converge"
