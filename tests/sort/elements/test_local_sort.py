"""sort_records() against a stable argsort of the keys."""

from __future__ import annotations

import itertools
import platform
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from elements_arrays import DISTRIBUTIONS, DTYPES, Guarded, key_type, keys, record_arrays, records
from hocket import _core


def check(values: np.ndarray, rows: np.ndarray, offset: int = 0) -> None:
    array, scratch = Guarded(rows.size, offset), Guarded(rows.size, offset)
    array.bytes[:] = rows.reshape(-1)
    _core.elements.sort_records(key_type(values.dtype), rows.shape[1], array.bytes, scratch.bytes)
    assert array.intact() and scratch.intact()
    assert (array.bytes == rows[np.argsort(values, kind="stable")].reshape(-1)).all()


@seed(5)
@settings(max_examples=200, deadline=None, database=None)
@given(record_arrays(most=2000), st.integers(0, 9))
def test_sorts_as_numpy_does(array, offset) -> None:
    check(*array, offset)


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_many_records(name: str, distribution: str) -> None:
    values = keys(np.random.default_rng(10), DTYPES[name], 70_000, distribution)
    for extra in (0, 8) if distribution == "uniform" else (0, 5):
        check(values, records(values, values.dtype.itemsize + extra))


@pytest.mark.parametrize("name", ["u64", "f64", "i32"])
def test_more_records_than_the_cache_holds(name: str) -> None:
    values = keys(np.random.default_rng(11), DTYPES[name], 1_000_000, "uniform")
    check(values, values.view(np.uint8).reshape(len(values), -1))


@pytest.mark.parametrize("name", ["u32", "u64", "i64", "f32", "f64"])
def test_keys_alone_of_every_number(name: str) -> None:
    """Numbers of keys that just fill the networks and vectors, one fewer and one more; then pivots."""
    rng = np.random.default_rng(12)
    for n in (*range(70), 127, 128, 129, 255, 256, 257, 511, 512, 513, 4095, 4096, 4097):
        for distribution in DISTRIBUTIONS:
            values = keys(rng, DTYPES[name], n, distribution)
            check(values, values.view(np.uint8).reshape(n, values.itemsize), n % 9)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="only x86-64 has these vectors")
def test_vectors_serve_where_the_processor_has_them() -> None:
    flags = Path("/proc/cpuinfo").read_text().split()
    assert _core.elements.has_vector_sort() == ("avx512f" in flags)


def test_digits() -> None:
    assert _core.digits_over(2**32 - 1, 11) == [(0, 11), (11, 11), (22, 10)]
    assert _core.digits_over(0, 11) == [(0, 1)]
    assert _core.digits_over(0xFFF0, 12) == [(4, 12)]
    assert _core.digits_over(0x8000_0000_0000_00FF, 8) == [(0, 8), (63, 1)]


@given(st.integers(1, 2**64 - 1), st.integers(1, 12))
def test_digits_cover_what_varies(varying: int, most: int) -> None:
    digits = _core.digits_over(varying, most)
    assert all(1 <= bits <= most for _, bits in digits)
    assert all(a + bits <= b for (a, bits), (b, _) in itertools.pairwise(digits))
    covered = sum(((1 << bits) - 1) << shift for shift, bits in digits)
    assert varying & ~covered == 0
    assert len(digits) <= -(-varying.bit_length() // most)


@given(st.integers(1, 64), st.integers(1, 12))
def test_as_few_digits_as_can_be_where_all_bits_vary(bits: int, most: int) -> None:
    assert len(_core.digits_over(2**bits - 1, most)) == -(-bits // most)


def test_scratch_space_too_small_is_refused() -> None:
    with pytest.raises(_core.InputError, match="scratch space"):
        _core.elements.sort_records(
            _core.elements.KeyType.u8, 1, np.zeros(3, np.uint8), np.zeros(2, np.uint8)
        )
