"""Transforms of mpi4py-fft on slabs and pencils; prints a hash of every bit of every result.

It redistributes its arrays with MPI_Alltoallw and subarray types. FFTW would choose its plans anew in every
run, so numpy transforms the rows.
"""

import hashlib

import numpy as np
from mpi4py import MPI
from mpi4py_fft import PFFT, newDistArray

SHAPE = (18, 15, 14)


def digest(comm: MPI.Comm, array: np.ndarray) -> str:
    parts = comm.gather(hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest())
    return hashlib.sha256("".join(parts).encode()).hexdigest()[:16] if parts else ""


def main() -> None:
    comm = MPI.COMM_WORLD
    for name, grid in (("slab", (-1,)), ("pencil", (-1, -1)), ("given pencil", (2, comm.size // 2))):
        for kind in (float, complex):
            transform = PFFT(comm, SHAPE, axes=(0, 1, 2), dtype=kind, grid=grid, backend="numpy")
            values = newDistArray(transform, False)
            values[:] = np.random.default_rng(comm.rank).standard_normal(values.shape)
            original = values.copy()
            for _ in range(3):
                spectrum = transform.forward(values)
                hashed = digest(comm, spectrum)
                transform.backward(spectrum, values)
            assert np.allclose(values, original)
            if comm.rank == 0:
                print(name, kind.__name__, hashed)


main()
