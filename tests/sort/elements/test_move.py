"""Contiguous, strided and indexed moves, and transposes, against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from elements_arrays import Guarded, place
from hocket import _core

widths = st.one_of(st.sampled_from([1, 2, 4, 8, 16]), st.integers(1, 40))


def random_rows(random_seed: int, n: int, width: int) -> np.ndarray:
    rng = np.random.default_rng(random_seed)
    return np.frombuffer(rng.bytes(n * width), np.uint8).reshape(n, width)


@pytest.mark.parametrize("size", [0, 1, 63, 64, 1000, 3_000_001])
@pytest.mark.parametrize("offset", [0, 5])
def test_copy(size: int, offset: int) -> None:
    source, out = random_rows(size, size, 1).reshape(-1), Guarded(size, offset)
    _core.elements.copy(source, out.bytes)
    assert out.intact() and (out.bytes == source).all()


@seed(6)
@settings(max_examples=60, deadline=None, database=None)
@given(widths, st.integers(0, 300), st.integers(1, 9), st.integers(1, 9), st.integers(0, 9))
def test_copy_strided(width, n, source_stride, target_stride, offset) -> None:
    source = random_rows(n, n * source_stride, width)
    out = Guarded(n * target_stride * width, offset)
    want = out.bytes.copy().reshape(-1, width)
    want[::target_stride] = source[::source_stride]
    _core.elements.copy_strided(
        width, place(source.reshape(-1), offset), source_stride, out.bytes, target_stride, n
    )
    assert out.intact() and (out.bytes == want.reshape(-1)).all()


@seed(7)
@settings(max_examples=100, deadline=None, database=None)
@given(widths, st.integers(1, 2000), st.integers(0, 2000), st.integers(0, 9), st.integers(0, 2**32))
def test_gather(width, size, n, offset, random_seed) -> None:
    source = random_rows(random_seed, size, width)
    index = np.random.default_rng(random_seed).integers(0, size, n)
    out = Guarded(n * width, offset)
    _core.elements.gather(width, place(source.reshape(-1), offset), index, out.bytes)
    assert out.intact() and (out.bytes == source[index].reshape(-1)).all()


@seed(8)
@settings(max_examples=100, deadline=None, database=None)
@given(
    widths,
    st.integers(0, 2000),
    st.integers(0, 9),
    st.integers(0, 2**32),
)
def test_scatter(width, n, offset, random_seed) -> None:
    source = random_rows(random_seed, n, width)
    size = n + n // 3
    index = np.random.default_rng(random_seed).permutation(size)[:n]
    out = Guarded(size * width, offset)
    want = out.bytes.copy().reshape(-1, width)
    want[index] = source
    _core.elements.scatter(width, place(source.reshape(-1), offset), index, out.bytes)
    assert out.intact() and (out.bytes == want.reshape(-1)).all()


def test_the_last_of_repeated_destinations_stays() -> None:
    source, index = random_rows(1, 1000, 4), np.random.default_rng(1).integers(0, 5, 1000)
    out = Guarded(5 * 4)
    _core.elements.scatter(4, source.reshape(-1), index, out.bytes)
    want = [source[np.flatnonzero(index == i)[-1]] for i in range(5)]
    assert (out.bytes == np.concatenate(want)).all()


@seed(9)
@settings(max_examples=120, deadline=None, database=None)
@given(
    widths, st.integers(0, 90), st.integers(0, 90), st.integers(0, 5), st.integers(0, 5), st.integers(0, 9)
)
def test_transpose(width, rows, columns, source_gap, target_gap, offset) -> None:
    source_stride, target_stride = columns + source_gap, rows + target_gap
    source = random_rows(rows * 91 + columns, rows * source_stride, width)
    out = Guarded(columns * target_stride * width, offset)
    want = out.bytes.copy().reshape(columns, target_stride, width)
    want[:, :rows] = source.reshape(rows, source_stride, width)[:, :columns].transpose(1, 0, 2)
    flat = place(source.reshape(-1), offset)
    _core.transpose(width, flat, source_stride, rows, columns, out.bytes, target_stride)
    assert out.intact() and (out.bytes == want.reshape(-1)).all()


def test_transpose_of_a_large_matrix() -> None:
    matrix = random_rows(3, 1030 * 517, 8).reshape(-1).view(np.uint64).reshape(1030, 517)
    out = np.empty((517, 1030), np.uint64)
    _core.transpose(
        8, matrix.view(np.uint8).reshape(-1), 517, 1030, 517, out.view(np.uint8).reshape(-1), 1030
    )
    assert (out == matrix.T).all()


def test_what_does_not_fit_is_refused() -> None:
    data, out = np.zeros(8, np.uint8), np.zeros(8, np.uint8)
    with pytest.raises(_core.InputError, match="index 2 at 1 is out of range for 2 elements"):
        _core.elements.gather(4, data, np.array([0, 2]), out)
    with pytest.raises(_core.InputError, match="index -1 at 0 is out of range"):
        _core.elements.scatter(4, data, np.array([-1, 0]), out)
    with pytest.raises(_core.InputError, match="whole number of elements"):
        _core.elements.gather(3, data, np.array([0]), out[:3])
    with pytest.raises(_core.InputError, match="2 elements with stride 2"):
        _core.elements.copy_strided(4, data, 2, out, 1, 2)
    with pytest.raises(_core.InputError, match="larger than its array"):
        _core.transpose(4, data, 2, 2, 2, out, 2)
    with pytest.raises(_core.InputError, match="overlap"):
        _core.elements.copy(data, data)
    with pytest.raises(TypeError):
        _core.elements.gather(4, data, np.array([0, 1], np.int32), out)
