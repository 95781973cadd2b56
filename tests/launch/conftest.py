"""MPI installations to test with."""

from mpi_programs import mpi  # noqa: F401
