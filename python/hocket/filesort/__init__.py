"""Sorting files of arrays with MPI: what ``hocket sort`` does.

``files`` says what can be sorted, ``job`` starts the ranks, ``worker`` is what each of them does, and
``memory`` refuses what does not fit.
"""
