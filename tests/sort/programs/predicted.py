"""Prints what a sort was expected to take, from every rank."""

import numpy as np
from mpi4py import MPI

from hocket.sorting import sort_report

keys = np.arange(1000, dtype=np.uint32)
steps = sort_report(MPI.COMM_WORLD, keys, method="radix", digit_bits=10).steps
for times in MPI.COMM_WORLD.gather([step.predicted for step in steps]) or []:
    print(repr(times))
