"""MPI installations to test with."""

import mpi_programs

mpi = mpi_programs.mpi
