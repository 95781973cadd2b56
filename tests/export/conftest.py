"""MPI installations to build programs with."""

import mpi_programs

mpi = mpi_programs.mpi
