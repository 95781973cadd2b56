"""order_of() against numpy's order."""

from __future__ import annotations

import numpy as np
import pytest

from elements_arrays import DISTRIBUTIONS, DTYPES, key_type, keys, records
from hocket import _core


def orders(values: np.ndarray, width: int | None = None) -> np.ndarray:
    width = width or values.dtype.itemsize
    out = np.empty(len(values), np.uint64)
    _core.orders(key_type(values.dtype), width, records(values, width).reshape(-1), out)
    return out


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_orders_as_numpy_sorts(name: str, distribution: str) -> None:
    values = keys(np.random.default_rng(5), DTYPES[name], 500, distribution)
    got = orders(values, values.dtype.itemsize + 3)
    assert (np.argsort(got, kind="stable") == np.argsort(values, kind="stable")).all()
    assert got.max() < 2 ** (8 * values.dtype.itemsize)


@pytest.mark.parametrize("name", ["f16", "f32", "f64"])
def test_zeros_are_equal_and_so_are_all_nan(name: str) -> None:
    values = keys(np.random.default_rng(6), DTYPES[name], 300, "special")
    got = orders(values)
    assert len(np.unique(got[np.isnan(values)])) == 1
    assert len(np.unique(got[values == 0])) == 1
    assert got[np.isnan(values)][0] > got[np.isposinf(values)][0]


def test_bytes_of_keys() -> None:
    assert {name: _core.elements.key_bytes(key_type(dtype)) for name, dtype in DTYPES.items()} == {
        name: dtype.itemsize for name, dtype in DTYPES.items()
    }


def test_records_smaller_than_their_keys_are_refused() -> None:
    with pytest.raises(_core.InputError, match="records of 3 bytes cannot hold a key of 4 bytes"):
        _core.elements.count_digits(_core.elements.KeyType.u32, 3, np.zeros(6, np.uint8), [], [])
