"""Three-dimensional transforms there and back by mpi4py-fft, on a grid of ranks: Alltoallw on its rows and columns.

python pencils.py SIDE TRANSFORMS
"""

import sys

import numpy as np
from mpi4py import MPI
from mpi4py_fft import PFFT, newDistArray

side, transforms = map(int, sys.argv[1:])
fft = PFFT(MPI.COMM_WORLD, (side, side, side), axes=(0, 1, 2), dtype=np.complex128, grid=(-1,))
there = newDistArray(fft, False)
there[:] = np.random.default_rng(MPI.COMM_WORLD.rank).standard_normal(there.shape)
before = there.copy()
for _ in range(transforms):
    there[:] = fft.backward(fft.forward(there))
error = MPI.COMM_WORLD.allreduce(float(abs(there - before).max()), MPI.MAX)
assert error < 1e-10, error
