"""MPI installations, as elsewhere."""

from __future__ import annotations

from mpi_programs import mpi  # noqa: F401
