"""Counting and dividing by digits and parts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from elements_arrays import DTYPES, Guarded, key_type, keys, place, record_arrays, records
from hocket import _core


def orders_of(values: np.ndarray) -> np.ndarray:
    out = np.empty(len(values), np.uint64)
    _core.orders(key_type(values.dtype), values.dtype.itemsize, values.view(np.uint8).reshape(-1), out)
    return out


def digits_of(values: np.ndarray, shift: int, bits: int) -> np.ndarray:
    return ((orders_of(values) >> np.uint64(shift)) & np.uint64(2**bits - 1)).astype(np.int64)


@st.composite
def digits(draw: st.DrawFn, key_bits: int) -> tuple[int, int]:
    bits = draw(st.integers(1, min(key_bits, 12)))
    return draw(st.one_of(st.just(key_bits - bits), st.integers(0, key_bits - bits))), bits


def divide(rows: np.ndarray, parts: np.ndarray, number: int, gaps: list[int], run, offset: int = 3) -> None:
    """Runs with gaps of some bytes between them, which must stay as they are."""
    width = rows.shape[1]
    counts = np.bincount(parts, minlength=number)
    gap = np.resize(np.array(gaps, np.uint64), number)
    begins = (np.cumsum(gap) + (np.cumsum(counts) - counts).astype(np.uint64) * np.uint64(width)).astype(
        np.uint64
    )
    out = Guarded(int(counts.sum() * width + gap.sum()), offset)
    want = np.full(len(out.bytes), 0xA5, np.uint8)
    stable = rows[np.argsort(parts, kind="stable")].reshape(-1)
    done = 0
    for begin, count in zip(begins.tolist(), counts.tolist(), strict=True):
        want[begin : begin + count * width] = stable[done : done + count * width]
        done += count * width
    run(out.bytes, begins)
    assert out.intact()
    assert (out.bytes == want).all()


@seed(1)
@settings(max_examples=150, deadline=None, database=None)
@given(st.data(), record_arrays(), st.integers(0, 9), st.lists(st.integers(0, 70), min_size=1, max_size=5))
def test_partition_by_digit(data, array, offset, gaps) -> None:
    values, rows = array
    shift, bits = data.draw(digits(8 * values.dtype.itemsize))
    divide(
        rows,
        digits_of(values, shift, bits),
        2**bits,
        gaps,
        lambda out, begins: _core.elements.partition(
            key_type(values.dtype), rows.shape[1], place(rows.reshape(-1), offset), (shift, bits), out, begins
        ),
    )


@pytest.mark.parametrize("width", [1, 2, 3, 4, 6, 7, 8, 12, 16, 20, 24, 32, 48, 64])
def test_partition_to_runs_that_crowd(width: int) -> None:
    """Equally many records in each bucket, so that runs lie half pages apart; all of it in a second-level cache."""
    bits = 6
    dtype = DTYPES["u8" if width == 1 else "u16" if width < 4 else "u32" if width < 8 else "u64"]
    values = np.tile(np.arange(2**bits), 2048 // math.gcd(width, 2048)).astype(dtype)
    rows = records(values, width)

    def run(out: np.ndarray, begins: np.ndarray) -> None:
        assert _core.runs_crowd((begins + np.uint64(out.ctypes.data)).tolist())
        _core.elements.partition(key_type(dtype), width, rows.reshape(-1), (0, bits), out, begins)

    for gap, offset in (0, 0), (0, 5), (4096, 3):
        divide(rows, digits_of(values, 0, bits), 2**bits, [gap], run, offset)


def test_runs_crowd_that_lie_at_the_same_place_of_pages() -> None:
    line, page = 64, 4096

    def ends(counts: list[int]) -> list[int]:
        return [0, *np.cumsum(counts).tolist()]

    assert _core.runs_crowd(ends([2048] * 255))  # bytes: 256 keys of 8 bytes in each of 256 buckets
    assert _core.runs_crowd(ends([page] * 63))
    spread = np.random.default_rng(1).poisson(256, 255) * 8
    assert not _core.runs_crowd(ends(spread.tolist()))
    assert not _core.runs_crowd(ends([page + line] * 63))
    assert not _core.runs_crowd([0] * 256)  # all keys in the last bucket
    assert not _core.runs_crowd(ends([line] * 2047))  # more lines than there are, wherever they end


@pytest.mark.parametrize("width", [1, 2, 3, 4, 6, 7, 8, 12, 16, 20, 24, 32, 63, 64, 100])
@pytest.mark.parametrize("distribution", ["uniform", "zipf", "equal"])
def test_partition_of_many_records(width: int, distribution: str) -> None:
    """More than a cache holds, so that runs are written in whole lines."""
    dtype = DTYPES["u8" if width == 1 else "i16" if width < 4 else "f32" if width < 8 else "u64"]
    values = keys(np.random.default_rng(width), dtype, 1_200_000 // width, distribution)
    rows = records(values, width)
    bits = min(10, 8 * dtype.itemsize)
    shift = 8 * dtype.itemsize - bits
    for gaps, offset in ([0], 0), ([width, 60 * width], 0), ([1], 0), ([0], 5):
        divide(
            rows,
            digits_of(values, shift, bits),
            2**bits,
            gaps,
            lambda out, begins: _core.elements.partition(
                key_type(dtype), width, rows.reshape(-1), (shift, bits), out, begins
            ),
            offset,
        )


@seed(2)
@settings(max_examples=80, deadline=None, database=None)
@given(
    st.integers(1, 40), st.integers(0, 3000), st.integers(1, 300), st.integers(0, 9), st.integers(0, 2**32)
)
def test_partition_by_parts(width, n, number, gap, random_seed) -> None:
    rng = np.random.default_rng(random_seed)
    parts = rng.integers(0, number, n).astype(np.uint16)
    rows = np.frombuffer(rng.bytes(n * width), np.uint8).reshape(n, width)
    divide(
        rows,
        parts,
        number,
        [gap],
        lambda out, begins: _core.elements.partition_parts(width, rows.reshape(-1), parts, out, begins),
    )


def test_partition_by_many_parts() -> None:
    rng = np.random.default_rng(9)
    parts = rng.integers(0, 2048, 200_000).astype(np.uint16)
    rows = np.frombuffer(rng.bytes(8 * len(parts)), np.uint8).reshape(-1, 8)
    divide(
        rows,
        parts,
        2048,
        [0],
        lambda out, begins: _core.elements.partition_parts(8, rows.reshape(-1), parts, out, begins),
    )


@seed(3)
@settings(max_examples=100, deadline=None, database=None)
@given(st.data(), record_arrays())
def test_counts_of_several_digits_in_one_pass(data, array) -> None:
    values, rows = array
    chosen = data.draw(st.lists(digits(8 * values.dtype.itemsize), min_size=1, max_size=9))
    counts = [np.full(2**bits, 7, np.uint64) for _, bits in chosen]
    _core.elements.count_digits(key_type(values.dtype), rows.shape[1], rows.reshape(-1), chosen, counts)
    for (shift, bits), got in zip(chosen, counts, strict=True):
        assert (got == np.bincount(digits_of(values, shift, bits), minlength=2**bits) + 7).all()


def test_counts_of_many_records() -> None:
    values = keys(np.random.default_rng(4), DTYPES["f32"], 100_003, "uniform")
    chosen = [(0, 11), (11, 11), (22, 10)]
    counts = [np.zeros(2**bits, np.uint64) for _, bits in chosen]
    _core.elements.count_digits(_core.elements.KeyType.f32, 4, values.view(np.uint8), chosen, counts)
    for (shift, bits), got in zip(chosen, counts, strict=True):
        assert (got == np.bincount(digits_of(values, shift, bits), minlength=2**bits)).all()


@seed(4)
@settings(max_examples=200, deadline=None, database=None)
@given(st.data(), record_arrays(most=120), st.integers(0, 4), st.integers(0, 2**40))
def test_classify(data, array, rank, first) -> None:
    values, rows = array
    orders = orders_of(values).tolist()
    top = 2 ** (8 * values.dtype.itemsize) - 1
    near = [x for order in {*orders[:20], 0, top} for x in (order - 1, order, order + 1) if 0 <= x <= top]
    splitter = st.tuples(
        st.sampled_from(near),
        st.integers(max(0, rank - 1), rank + 1),
        st.integers(max(0, first - 1), first + len(rows)),
    )
    splitters = sorted(data.draw(st.lists(splitter, max_size=data.draw(st.sampled_from([2, 10, 60])))))
    got = np.empty(len(rows), np.uint16)
    _core.elements.classify(
        key_type(values.dtype), rows.shape[1], rows.reshape(-1), rank, first, splitters, got
    )
    want = [sum(s <= (order, rank, first + i) for s in splitters) for i, order in enumerate(orders)]
    assert got.tolist() == want


def test_classify_by_most_splitters() -> None:
    values = keys(np.random.default_rng(8), DTYPES["u64"], 3000, "uniform")
    splitters = np.sort(keys(np.random.default_rng(7), DTYPES["u64"], 65535, "uniform"))
    got = np.empty(len(values), np.uint16)
    rows = [(int(s), 0, 0) for s in splitters]
    _core.elements.classify(_core.elements.KeyType.u64, 8, values.view(np.uint8), 1, 0, rows, got)
    assert (got == np.searchsorted(splitters, values, side="right")).all()


def test_bad_digits_are_refused() -> None:
    data = np.zeros(8, np.uint8)
    with pytest.raises(_core.InputError, match="1 to 12 bits, not 0"):
        _core.elements.count_digits(_core.elements.KeyType.u32, 4, data, [(0, 0)], [np.zeros(1, np.uint64)])
    with pytest.raises(_core.InputError, match="reaches beyond a key of 32 bits"):
        _core.elements.count_digits(
            _core.elements.KeyType.u32, 4, data, [(25, 8)], [np.zeros(256, np.uint64)]
        )
    with pytest.raises(_core.InputError, match="1 to 12 bits, not 13"):
        _core.elements.partition(
            _core.elements.KeyType.u32, 4, data, (0, 13), data.copy(), np.zeros(2**13, np.uint64)
        )


def test_runs_without_room_are_refused() -> None:
    data, begins = np.zeros(8, np.uint8), np.array([1, 0], np.uint64)
    with pytest.raises(_core.InputError, match="bucket 0 have no room"):
        _core.elements.partition(_core.elements.KeyType.u32, 4, data, (0, 1), np.zeros(8, np.uint8), begins)
    with pytest.raises(_core.InputError, match="overlap"):
        _core.elements.partition(_core.elements.KeyType.u32, 4, data, (0, 1), data, np.zeros(2, np.uint64))
    with pytest.raises(_core.InputError, match="part 2 has no place"):
        _core.elements.partition_parts(4, data, np.array([0, 2], np.uint16), np.zeros(8, np.uint8), begins)
