"""sort_records() against a stable argsort of the keys."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from elements_arrays import DISTRIBUTIONS, DTYPES, Guarded, key_type, keys, record_arrays, records
from hocket import _core


def check(values: np.ndarray, rows: np.ndarray, offset: int = 0) -> None:
    array, scratch = Guarded(rows.size, offset), Guarded(rows.size, offset)
    array.bytes[:] = rows.reshape(-1)
    _core.sort_records(key_type(values.dtype), rows.shape[1], array.bytes, scratch.bytes)
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
    for extra in (0, 8) if distribution == "uniform" else (5,):
        check(values, records(values, values.dtype.itemsize + extra))


@pytest.mark.parametrize("name", ["u64", "f64", "i32"])
def test_more_records_than_the_cache_holds(name: str) -> None:
    values = keys(np.random.default_rng(11), DTYPES[name], 1_000_000, "uniform")
    check(values, values.view(np.uint8).reshape(len(values), -1))


def test_digits() -> None:
    assert _core.digits_of(32, 11) == [(0, 11), (11, 11), (22, 10)]
    assert _core.digits_of(0, 11) == []
    assert _core.digits_of(12, 12) == [(0, 12)]
    for bits in range(65):
        for most in range(1, 13):
            digits = _core.digits_of(bits, most)
            assert sum(b for _, b in digits) == bits
            assert len(digits) == -(-bits // most)
            assert [s for s, _ in digits] == [sum(b for _, b in digits[:i]) for i in range(len(digits))]
            assert not digits or max(b for _, b in digits) - min(b for _, b in digits) <= 1


def test_scratch_space_too_small_is_refused() -> None:
    with pytest.raises(_core.InputError, match="scratch space"):
        _core.sort_records(_core.KeyType.u8, 1, np.zeros(3, np.uint8), np.zeros(2, np.uint8))
