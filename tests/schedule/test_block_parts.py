"""Blocks that pass through many hands are proven many pieces at once: as if each byte were carried."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from itertools import groupby
from operator import itemgetter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hocket import _core
from hocket.network import read_network

BYTES = 12
Row = tuple[int, int, int, int, int, int, int]
# Blocks that are cut at several places, and such that are not; more ranks than a word has bits, so fewer examples.
EXAMPLES = {"torus:2x3": 60, "star:4": 60, "torus:5x14": 12, "star:66": 12}


@cache
def sizes_on(ranks: int, unequal: bool) -> list[int]:
    return [1 + rank * 7 % BYTES if unequal else BYTES for rank in range(ranks)]


@cache
def planned(form: str, pattern: str, unequal: bool = False) -> tuple[_core.Network, _core.Demand, list[Row]]:
    network = read_network(form)
    sizes = sizes_on(network.ranks, unequal)
    demand = _core.Demand(network.ranks, max(sizes), pattern, sizes if unequal else [])
    return network, demand, _core.plan_exchange(network, demand).schedule.rows()


def complete(network: _core.Network, demand: _core.Demand, rows: list[Row]) -> bool:
    schedule = _core.Schedule.from_rows(network.ranks, demand.bytes, rows)
    return bool(_core.verify(network, demand, schedule, _core.PortModel.all_port).complete)


def carried_out(rows: list[Row], sizes: list[int]) -> bool:
    """Carry out all transfers. Return true if every byte comes once to everyone, from a rank that has it."""
    ranks = len(sizes)
    held = np.zeros((ranks, ranks, max(sizes)), bool)  # at a rank, of a block
    for rank in range(ranks):
        held[rank, rank] = True
    right = True
    for _, together in groupby(rows, itemgetter(0)):
        before = held.copy()
        for _, src, dst, block, _, offset, length in together:
            where = (block, slice(offset, offset + length))
            right = right and bool(before[(src, *where)].all()) and not held[(dst, *where)].any()
            held[(dst, *where)] = True
    return right and all(held[:, block, :size].all() for block, size in enumerate(sizes))


def changed(rows: list[Row], data: st.DataObject, sizes: list[int]) -> list[Row]:
    """Rows are left out, doubled, moved to another phase, rank or block, shortened or cut in two."""
    rows = list(rows)
    at = data.draw(st.integers(0, len(rows) - 1))
    phase, src, dst, _, target, offset, length = rows[at]
    other = data.draw(st.integers(0, len(sizes) - 1))
    kind = data.draw(st.sampled_from(["out", "twice", "phase", "rank", "block", "length", "two"]))
    if kind == "phase":
        rows[at] = (data.draw(st.integers(0, rows[-1][0])), *rows[at][1:])
    elif kind == "rank" and other != src:
        rows[at] = (phase, src, other, *rows[at][3:])
    elif kind == "block" and offset + length <= sizes[other]:
        rows[at] = (phase, src, dst, other, target, offset, length)
    elif kind == "length":
        rows[at] = (*rows[at][:6], data.draw(st.integers(1, length)))
    elif kind == "two" and length > 1:
        cut = data.draw(st.integers(1, length - 1))
        rows[at : at + 1] = [(*rows[at][:6], cut), (*rows[at][:5], offset + cut, length - cut)]
    elif kind == "twice":
        rows.append((data.draw(st.integers(0, rows[-1][0])), *rows[at][1:]))
    elif kind == "out":
        del rows[at]
    return sorted(rows)


@pytest.mark.parametrize("form", EXAMPLES)
@pytest.mark.parametrize("unequal", [False, True])
def test_all_gathers_are_judged_as_if_carried_out(form: str, unequal: bool) -> None:
    network, demand, right = planned(form, "all-gather", unequal)
    sizes = sizes_on(network.ranks, unequal)
    assert complete(network, demand, right) and carried_out(right, sizes)

    @settings(max_examples=EXAMPLES[form])
    @given(st.data(), st.integers(1, 2))
    def judged(data: st.DataObject, changes: int) -> None:
        rows = right
        for _ in range(changes):
            rows = changed(rows, data, sizes)
        assert complete(network, demand, rows) == carried_out(rows, sizes)

    judged()


@pytest.mark.parametrize("pattern", ["reduce-scatter", "all-reduce"])
@pytest.mark.parametrize("form", EXAMPLES)
def test_sums_backwards(form: str, pattern: str) -> None:
    """The whole is right; without any one of its transfers it is not."""
    network, demand, rows = planned(form, pattern)
    assert complete(network, demand, rows)
    for at in (0, len(rows) // 3, len(rows) // 2, len(rows) - 1):
        assert not complete(network, demand, rows[:at] + rows[at + 1 :])


@pytest.mark.parametrize("collective", ["all-gather", "all-reduce"])
def test_plan_and_proof_of_4096_ranks_take_little_memory(collective: str) -> None:
    """Transfers share what they carry: 50 million pieces in 86,016, which alone would be 1.6 GB."""
    words = ["plan", collective, "--network", "torus:16x16x16", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "hocket", *words], capture_output=True, text=True, check=True, timeout=120
    )
    told = json.loads(done.stdout)
    assert told["complete"] and told["contention_free"]
    assert told["peak_rss_bytes"] < 500e6
