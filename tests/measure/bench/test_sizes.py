"""Sizes as people write them, and those of irregular exchanges."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hocket.errors import UsageError
from hocket.measure.bench_rows import irregular_sizes, parse_sizes


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("8:64", (8, 16, 32, 64)),
        ("8:1M:4", tuple(8 << 2 * i for i in range(9))),
        ("1:1K:32", (1, 32, 1024)),
        ("8,64,1K", (8, 64, 1024)),
        ("64,8,64", (64, 8)),
        ("3:10", (3, 6)),
        ("1M", (1 << 20,)),
        ("1KB,1KiB,1k", (1000, 1024)),
        ("1G", (1 << 30,)),
    ],
)
def test_ranges_and_lists(text: str, sizes: tuple[int, ...]) -> None:
    assert parse_sizes(text) == sizes


@pytest.mark.parametrize(
    "text",
    ["", ":", "8:", ":8", "8:4", "0", "0:8", "-8", "8:16:1", "8:16:0", "8:16:2:2", "8:16:x", "8:16:²", "2G",
     "1T", "8,", "eight", "8 64", "1.5", "nan", "8:16:" + "9" * 99, "9" * 99],
)  # fmt: skip
def test_what_is_no_size(text: str) -> None:
    with pytest.raises(UsageError) as told:
        parse_sizes(text)
    assert "--sizes" in told.value.what
    assert "; " in str(told.value)


@given(st.integers(1, 1 << 30), st.integers(1, 1 << 30), st.integers(2, 1000))
def test_a_range_grows_by_its_factor_up_to_its_end(first: int, last: int, factor: int) -> None:
    if first > last:
        first, last = last, first
    sizes = parse_sizes(f"{first}:{last}:{factor}")
    assert sizes[0] == first
    assert all(b == factor * a for a, b in itertools.pairwise(sizes))
    assert sizes[-1] <= last < sizes[-1] * factor


@given(
    st.integers(1, 12), st.integers(1, 1 << 20), st.floats(0, 1, allow_nan=False), st.integers(0, 2**63 - 1)
)
def test_irregular_sizes_keep_their_limits(ranks: int, average: int, density: float, seed: int) -> None:
    sizes = irregular_sizes(ranks, average, density, seed)
    assert sizes.shape == (ranks, ranks)
    some = sizes[sizes > 0]
    assert (some >= max(average // 2, 1)).all() and (some <= -(-3 * average // 2)).all()
    assert np.array_equal(sizes, irregular_sizes(ranks, average, density, seed))
    assert np.array_equal(sizes > 0, irregular_sizes(ranks, 2 * average, density, seed) > 0)


def test_density_is_the_share_of_pairs() -> None:
    assert (irregular_sizes(40, 100, 1, 3) > 0).all()
    assert not irregular_sizes(40, 100, 0, 3).any()
    assert 0.25 < (irregular_sizes(40, 100, 0.3, 3) > 0).mean() < 0.35
    assert abs(irregular_sizes(40, 1000, 1, 3).mean() - 1000) < 30
