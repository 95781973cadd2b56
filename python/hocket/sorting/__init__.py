"""Permuting and sorting arrays that lie in parts on the ranks of an MPI program, and sorting files of them.

``elements`` and ``sort`` are for programs with mpi4py; ``files``, ``job`` and ``worker`` are what ``hocket-sort`` does.
"""
