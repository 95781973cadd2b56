"""Routing of elements to ranks and regions, and putting them in place, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from elements_arrays import Guarded, place
from hocket import _core

Array = np.ndarray[Any, Any]

widths = st.one_of(st.sampled_from([1, 2, 4, 8, 16, 32, 64, 128]), st.integers(1, 70))
seeds = st.integers(0, 2**32)
_LINE = 64  # elements that a region begins at multiples of


@st.composite
def divisions(draw: st.DrawFn) -> list[int]:
    """Draw the beginnings of buckets, and the end of the last one; some are empty."""
    total = draw(st.one_of(st.integers(0, 40), st.integers(0, 20_000)))
    inner = draw(st.lists(st.integers(0, total), max_size=draw(st.sampled_from([3, 40]))))
    return [0, *sorted(inner), total]


def positions_in(begins: list[int], rng: np.random.Generator, most: int = 2000) -> Array:
    return rng.integers(0, max(begins[-1], 1), int(rng.integers(0, most)) if begins[-1] else 0)


def buckets_of(begins: list[int], positions: Array) -> Array:
    return np.searchsorted(begins, positions, side="right") - 1


def rows_of(rng: np.random.Generator, n: int, width: int) -> Array:
    return np.frombuffer(rng.bytes(n * width), np.uint8).reshape(n, width)


def flat(rows: Array, offset: int = 0) -> Array:
    return place(rows.reshape(-1), offset)


@seed(20)
@settings(max_examples=200, deadline=None, database=None)
@given(divisions(), st.integers(1, 30_000), st.integers(1, 300))
def test_regions(begins: list[int], most: int, buckets: int) -> None:
    regions = _core.regions(begins, most, buckets)
    total = begins[-1]
    if total == 0:
        assert regions == [0, 0]
        return
    assert regions[0] == 0 and regions[-1] == total and set(begins) <= set(regions)
    lengths = np.diff(regions)
    assert (lengths > 0).all()
    wanted = 1 << (most.bit_length() - 1)
    longest = max(wanted, 1 << max((total - 1) // buckets, 0).bit_length())
    assert lengths.max() <= longest  # longer than wanted only if there were too many otherwise
    for begin in set(regions) - set(begins):  # inside a part: at multiples of one power of two
        assert begin % min(wanted, longest) == 0
    assert len(lengths) <= len(set(begins)) + max(buckets + 1, total // wanted + 1)


@seed(21)
@settings(max_examples=200, deadline=None, database=None)
@given(divisions(), seeds, st.booleans())
def test_count_positions(begins: list[int], random_seed: int, spoilt: bool) -> None:
    rng = np.random.default_rng(random_seed)
    positions, good = positions_in(begins, rng), None
    if spoilt and len(positions):
        good = int(rng.integers(len(positions)))
        positions[good] = rng.choice([-1, begins[-1], 2**62, -(2**63)])
    counted, counts = _core.count_positions(begins, positions)
    assert counted == (len(positions) if good is None else good)
    want = np.bincount(buckets_of(begins, positions[:counted]), minlength=len(begins) - 1)
    assert counts == want.tolist()


@seed(22)
@settings(max_examples=120, deadline=None, database=None)
@given(divisions(), widths, st.integers(0, 9), st.sampled_from([np.uint32, np.uint64]), seeds)
def test_divide_and_collect(
    begins: list[int], width: int, offset: int, offset_type: type[np.unsignedinteger[Any]], random_seed: int
) -> None:
    rng = np.random.default_rng(random_seed)
    positions = positions_in(begins, rng)
    rows, n = rows_of(rng, len(positions), width), len(positions)
    buckets = buckets_of(begins, positions)
    order = np.argsort(buckets, kind="stable")
    offsets_wanted = (positions - np.array(begins)[buckets])[order]

    out, offsets = Guarded(n * width, offset), np.zeros(n, offset_type)
    _core.divide(begins, width, flat(rows, offset), positions, out.bytes, offsets)
    assert out.intact() and (out.bytes == rows[order].reshape(-1)).all()
    assert (offsets == offsets_wanted).all()

    alone = np.zeros(n, np.uint64)
    _core.divide_positions(begins, positions, alone)
    assert (alone == offsets_wanted).all()

    back = Guarded(n * width, offset)
    _core.collect(begins, width, positions, out.bytes, back.bytes)
    assert back.intact() and (back.bytes == rows.reshape(-1)).all()


@seed(23)
@settings(max_examples=120, deadline=None, database=None)
@given(divisions(), widths, st.integers(0, 9), seeds)
def test_gather_from_the_buckets_that_are_here(
    begins: list[int], width: int, offset: int, random_seed: int
) -> None:
    rng = np.random.default_rng(random_seed)
    positions = positions_in(begins, rng)
    source = rows_of(rng, begins[-1], width)
    here = rng.integers(0, 2, len(begins) - 1).astype(bool)
    out = Guarded(len(positions) * width, offset)
    want = out.bytes.copy().reshape(-1, width)
    found = here[buckets_of(begins, positions)]
    want[found] = source[positions[found]]
    _core.gather_here(begins, width, flat(source, offset), here.tolist(), positions, out.bytes)
    assert out.intact() and (out.bytes == want.reshape(-1)).all()


@seed(24)
@settings(max_examples=150, deadline=None, database=None)
@given(divisions(), widths, st.integers(0, 9), st.integers(1, 900), seeds)
def test_regions_are_written_whole_and_in_order(
    begins: list[int], width: int, offset: int, slice_length: int, random_seed: int
) -> None:
    rng = np.random.default_rng(random_seed)
    positions = positions_in(begins, rng)
    rows = rows_of(rng, len(positions), width)
    here = rng.integers(0, 5, len(begins) - 1) > 0
    buckets = buckets_of(begins, positions)
    counts = np.bincount(buckets, minlength=len(here))
    ends = np.cumsum(-(-counts // _LINE) * _LINE)
    room = int(ends[-1])
    out, offsets = Guarded(room * width), place(np.full(4 * room, 0xA5, np.uint8), 0).view(np.uint32)
    want, want_offsets = out.bytes.copy().reshape(-1, width), offsets.copy()
    for bucket in np.flatnonzero(here & (counts > 0)):
        members = np.flatnonzero(buckets == bucket)
        begin = ends[bucket] - -(-counts[bucket] // _LINE) * _LINE
        want[begin : begin + len(members)] = rows[members]
        want_offsets[begin : begin + len(members)] = positions[members] - begins[bucket]
    _core.write_regions_here(
        begins, width, flat(rows, offset), here.tolist(), positions, slice_length, out.bytes, offsets
    )
    assert out.intact() and (out.bytes == want.reshape(-1)).all()
    assert (offsets == want_offsets).all()


@seed(25)
@settings(max_examples=150, deadline=None, database=None)
@given(
    widths,
    st.integers(0, 1500),
    st.booleans(),
    st.integers(0, 9),
    st.sampled_from([np.uint32, np.uint64]),
    seeds,
)
def test_scatter_until_a_place_is_taken_twice(
    width: int,
    n: int,
    repeated: bool,
    offset: int,
    offset_type: type[np.unsignedinteger[Any]],
    random_seed: int,
) -> None:
    rng = np.random.default_rng(random_seed)
    places = n + n // 3
    rows, offsets = rows_of(rng, n, width), rng.permutation(places)[:n].astype(offset_type)
    good = n
    if repeated and n > 1:
        good = int(rng.integers(1, n))
        offsets[good] = offsets[rng.integers(good)]
    out = Guarded(places * width, offset)
    want = out.bytes.copy().reshape(-1, width)
    want[offsets[:good]] = rows[:good]
    taken = np.zeros(-(-places // 64), np.uint64)
    assert _core.scatter_to_free(width, flat(rows, offset), offsets, out.bytes, taken) == good
    assert out.intact() and (out.bytes == want.reshape(-1)).all()
    bits = np.unpackbits(taken.view(np.uint8), bitorder="little")
    assert (np.flatnonzero(bits) == np.sort(offsets[:good])).all()
    if good:  # places that earlier calls have taken stay taken
        assert _core.scatter_to_free(width, flat(rows[:1]), offsets[:1], out.bytes, taken) == 0

    marked, takes = Guarded(places * width, offset), Guarded(places)
    takes.bytes[:] = 0
    _core.scatter_and_mark(width, flat(rows[:good], offset), offsets[:good], marked.bytes, takes.bytes)
    assert marked.intact() and (marked.bytes == want.reshape(-1)).all()
    assert takes.intact() and (np.flatnonzero(takes.bytes) == np.sort(offsets[:good])).all()


def test_what_does_not_fit_is_refused() -> None:
    data, out, positions = np.zeros(8, np.uint8), np.zeros(8, np.uint8), np.array([0, 4])
    with pytest.raises(_core.InputError, match="buckets begin at 0"):
        _core.count_positions([1, 2], positions)
    with pytest.raises(_core.InputError, match="position is out of range"):
        _core.collect([0, 4], 4, positions, data, out)
    with pytest.raises(_core.InputError, match="differ in length"):
        _core.divide([0, 5], 4, data, positions, out[:4], np.zeros(2, np.uint32))
    with pytest.raises(_core.InputError, match="offset is out of range"):
        _core.scatter_to_free(4, data, np.array([0, 2], np.uint32), out, np.zeros(1, np.uint64))
    with pytest.raises(_core.InputError, match="bit for each place"):
        _core.scatter_to_free(4, data, np.array([0, 1], np.uint32), out, np.zeros(0, np.uint64))
