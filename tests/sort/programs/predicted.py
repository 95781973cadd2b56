"""Prints what a sort was expected to take, from every rank."""

import numpy as np
from mpi4py import MPI

from hocket.sorting.sort import sort_report

keys = np.arange(1000, dtype=np.uint32)
first = sort_report(MPI.COMM_WORLD, keys, method="radix", digit_bits=10).steps
steps = sort_report(MPI.COMM_WORLD, keys, method="radix", digit_bits=10).steps
assert {step.name for step in first} - {step.name for step in steps} == {"first touch"}
assert all(step.predicted > 0 for step in first)
for times in MPI.COMM_WORLD.gather([step.predicted for step in steps]) or []:
    print(repr(times))
