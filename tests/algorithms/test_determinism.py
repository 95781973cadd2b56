"""Ranks plan independently and must agree: same input, same bytes, in every process."""

from __future__ import annotations

import multiprocessing

from fingerprints import fingerprints


def test_two_processes_make_the_same_plans_and_one_twice() -> None:
    here = fingerprints()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        there = pool.apply_async(fingerprints)
        again = fingerprints()
        assert here == there.get(timeout=60)
    assert len(here) > 40
    assert here == again
