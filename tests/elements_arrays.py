"""Arrays of records for the tests of element kernels: keys with payload behind them, as bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from hocket import _core

DTYPES: dict[str, np.dtype[Any]] = {
    f"{kind}{8 * size}": np.dtype(f"{kind}{size}")
    for kind in "uif"
    for size in (1, 2, 4, 8)
    if kind + str(size) != "f1"
}
GUARD = 64  # bytes that must stay as they are on both sides of an output


def key_type(dtype: np.dtype[Any]) -> _core.elements.KeyType:
    return getattr(_core.elements.KeyType, f"{dtype.kind}{8 * dtype.itemsize}")


def special_values(dtype: np.dtype[Any]) -> list[int]:
    """Special values as bits: extremes; of floats both zeros, infinities and NaN of both signs with different
    payloads."""
    bits = 8 * dtype.itemsize
    values = [0, 1, 2**bits - 1, 2 ** (bits - 1), 2 ** (bits - 1) - 1, 2 ** (bits - 1) + 1]
    if dtype.kind == "f":
        infinity = int(np.array(np.inf, dtype).view(f"u{dtype.itemsize}"))
        sign = 2 ** (bits - 1)
        values += [infinity, infinity | sign, infinity + 1, infinity + 1 | sign, infinity + 3, infinity - 1]
    return values


def keys(rng: np.random.Generator, dtype: np.dtype[Any], n: int, distribution: str) -> np.ndarray[Any, Any]:
    bits = np.dtype(f"u{dtype.itemsize}")
    if distribution == "uniform":
        return np.frombuffer(rng.bytes(n * dtype.itemsize), bits).view(dtype)
    if distribution == "special":
        return rng.choice(np.array(special_values(dtype), bits), n).view(dtype)
    if distribution == "equal":
        return np.full(n, special_values(dtype)[-1], bits).view(dtype)
    if distribution == "top bit":
        return (rng.integers(0, 2, n).astype(bits) << (8 * dtype.itemsize - 1)).view(dtype)
    if distribution == "zipf":
        return np.minimum(rng.zipf(1.5, n), 100).astype(dtype)
    if distribution == "dense":
        return rng.permutation(np.arange(n).astype(bits)).view(dtype)
    if distribution == "sorted":
        return np.sort(keys(rng, dtype, n, "uniform"))
    assert distribution == "few"
    return rng.integers(0, 10, n).astype(dtype)


DISTRIBUTIONS = ("uniform", "special", "equal", "top bit", "zipf", "few", "dense", "sorted")


def records(keys: np.ndarray[Any, Any], width: int) -> np.ndarray[Any, Any]:
    """(n, width) bytes: the key, then bytes that tell the records apart as far as they fit."""
    rng = np.random.default_rng(len(keys))
    rows = np.frombuffer(rng.bytes(len(keys) * width), np.uint8).reshape(len(keys), width).copy()
    rows[:, : keys.dtype.itemsize] = keys.view(np.uint8).reshape(len(keys), keys.dtype.itemsize)
    return rows


def place(flat: np.ndarray[Any, Any], offset: int) -> np.ndarray[Any, Any]:
    """A copy that begins `offset` bytes behind a cache line."""
    room = np.empty(len(flat) + 128 + offset, np.uint8)
    begin = -room.ctypes.data % 64 + offset
    view = room[begin : begin + len(flat)]
    view[:] = flat
    return view


class Guarded:
    """Room for output at an odd address; the bytes around it must not change."""

    def __init__(self, size: int, offset: int = 0) -> None:
        self.whole = place(np.full(size + 2 * GUARD, 0xA5, np.uint8), offset)
        self.bytes = self.whole[GUARD : GUARD + size]

    def intact(self) -> bool:
        return bool(
            (self.whole[:GUARD] == 0xA5).all() and (self.whole[len(self.whole) - GUARD :] == 0xA5).all()
        )


@st.composite
def record_arrays(draw: st.DrawFn, most: int = 400) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Keys and the records that hold them."""
    dtype = DTYPES[draw(st.sampled_from(sorted(DTYPES)))]
    width = dtype.itemsize + draw(st.one_of(st.just(0), st.integers(0, 24)))
    n = draw(st.one_of(st.integers(0, 40), st.integers(0, most)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    values = keys(rng, dtype, n, draw(st.sampled_from(DISTRIBUTIONS)))
    return values, records(values, width)
