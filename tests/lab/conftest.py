"""Tests in the lab run with each MPI."""

from mpi_programs import mpi  # noqa: F401
