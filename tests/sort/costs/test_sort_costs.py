"""Predictions of sorts and takes: what has to hold for any profile."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hocket._core import memory
from hocket._core.memory import Profile, SortShape, TakeShape
from hypothesis import given
from hypothesis import strategies as st

from hocket import _core

U32, U64 = _core.elements.KeyType.u32, _core.elements.KeyType.u64
BUILT_IN = Profile.built_in()
TALK = ["bucket counts", "transpose", "scan", "untranspose", "presort copy", "grouped permute"]
RADIX = [*TALK, "local sort", "balance"]
SAMPLE = ["sample", "splitters", "partition", "exchange", "local sort", "balance"]
Steps = list[tuple[str, float]]


def total(steps: Steps) -> float:
    return sum(seconds for _, seconds in steps)


def shape(n: int = 1 << 20, width: int = 8, bits: int = 32, ranks: int = 2, host: int = 2) -> SortShape:
    return SortShape(U32, width, n, bits, ranks, host)


SORTS: list[Callable[[SortShape], Steps]] = [
    lambda s: memory.predict_radix(BUILT_IN, s, [(0, 8), (8, 8), (16, 8), (24, 8)]),
    lambda s: memory.predict_radix(BUILT_IN, s, [(0, 11), (11, 11), (22, 10)]),
    lambda s: memory.predict_sample(BUILT_IN, s),
    lambda s: memory.predict_highest_first(BUILT_IN, s, (21, 11)),
]
TAKES: list[Callable[[TakeShape], Steps]] = [
    lambda s: memory.predict_take(BUILT_IN, s, False),
    lambda s: memory.predict_take(BUILT_IN, s, True),
]


def test_steps_have_the_names_of_the_sorts() -> None:
    for predict, names in ((SORTS[0], RADIX), (SORTS[2], SAMPLE), (SORTS[3], RADIX)):
        assert [name for name, _ in predict(shape(width=4))] == names
        assert [name for name, _ in predict(shape(width=8))] == [*names, "pack", "unpack"]


@pytest.mark.parametrize("predict", SORTS)
@given(
    st.integers(0, 10**9), st.integers(4, 64), st.sampled_from([(1, 1), (2, 2), (16, 16), (16, 1), (64, 8)])
)
def test_more_elements_and_wider_ones_cost_more(
    predict: Callable[[SortShape], Steps], n: int, width: int, ranks: tuple[int, int]
) -> None:
    base = total(predict(shape(n, width, 32, *ranks)))
    assert 0 <= base < float("inf")
    assert total(predict(shape(2 * n + 10**6, width, 32, *ranks))) > base
    assert total(predict(shape(n + 10**6, 2 * width, 32, *ranks))) > base


@pytest.mark.parametrize("predict", TAKES)
@given(
    st.integers(0, 10**9), st.integers(1, 64), st.sampled_from([(1, 1), (2, 2), (16, 16), (16, 1), (64, 8)])
)
def test_taking_more_costs_more(
    predict: Callable[[TakeShape], Steps], n: int, width: int, ranks: tuple[int, int]
) -> None:
    base = total(predict(TakeShape(width, n, *ranks)))
    assert 0 < base < float("inf")
    assert total(predict(TakeShape(width, 2 * n + 10**6, *ranks))) > base
    assert total(predict(TakeShape(2 * width, n + 10**6, *ranks))) > base


def test_digits_that_are_left_out_cost_nothing() -> None:
    digits = [(0, 8), (8, 8), (16, 8), (24, 8)]
    costs = [total(memory.predict_radix(BUILT_IN, shape(width=4), digits[:i])) for i in range(5)]
    assert costs == sorted(set(costs)) and costs[0] == 0


def test_each_digit_adds_to_each_step() -> None:
    one = memory.predict_radix(BUILT_IN, shape(), [(0, 8)])
    three = memory.predict_radix(BUILT_IN, shape(), [(0, 8), (8, 8), (16, 8)])
    assert [seconds for _, seconds in three[:6]] == pytest.approx([3 * seconds for _, seconds in one[:6]])


@given(st.integers(1, 2**64 - 1), st.integers(1, 10**9))
def test_the_chosen_radix_sort_is_the_fastest(varying: int, n: int) -> None:
    bits = varying.bit_length()
    wanted = SortShape(U64, 8, n, bits, 2, 2)
    _, highest, steps = memory.fastest_radix(BUILT_IN, wanted, varying)
    assert highest is None or (sum(highest) == bits and highest[1] >= min(8, bits))
    for most in range(4, 13):
        digits = _core.digits_over(varying, most)
        assert total(steps) <= total(memory.predict_radix(BUILT_IN, wanted, digits))
    for most in range(min(8, bits), min(12, bits) + 1):
        assert total(steps) <= total(memory.predict_highest_first(BUILT_IN, wanted, (bits - most, most)))


def test_between_hosts_the_highest_digit_comes_first() -> None:
    slow = Profile("slow", BUILT_IN.cores, (1e6, 1e-4), BUILT_IN.figures)
    assert memory.fastest_radix(slow, shape(ranks=4, host=1), 2**32 - 1)[1] is not None
    assert memory.fastest_radix(slow, shape(ranks=4, host=1, bits=8), 2**8 - 1)[1] is None


def test_a_slow_wire_makes_other_hosts_dear() -> None:
    slow = Profile("slow", BUILT_IN.cores, (1e6, 1e-4), BUILT_IN.figures)
    near, far = shape(ranks=4, host=4), shape(ranks=4, host=1)
    digits = _core.digits_over(2**32 - 1, 11)
    all_digits = total(memory.predict_radix(slow, far, digits))
    assert total(memory.predict_radix(slow, near, digits)) == total(
        memory.predict_radix(BUILT_IN, near, digits)
    )
    assert all_digits > 10 * total(memory.predict_radix(slow, near, digits))
    # A sample sort sends every element once, a radix sort once for each digit.
    assert total(memory.predict_sample(slow, far)) < all_digits / 1.5
    assert total(memory.predict_highest_first(slow, far, (21, 11))) < all_digits / 1.5


def test_all_digits_go_through_the_network_or_only_the_highest() -> None:
    steps = dict(memory.predict_radix(BUILT_IN, shape(width=4), [(0, 11), (11, 11), (22, 10)]))
    assert steps["local sort"] == steps["balance"] == 0
    highest = dict(memory.predict_highest_first(BUILT_IN, shape(width=4), (21, 11)))
    assert all(seconds > 0 for seconds in highest.values())
    assert highest["grouped permute"] < steps["grouped permute"]


def test_keys_alone_may_be_sorted_by_a_library() -> None:
    def local_sort(width: int, library: bool) -> float:
        wanted = SortShape(U32, width, 1 << 24, 32, 2, 2, library)
        return dict(memory.predict_highest_first(BUILT_IN, wanted, (21, 11)))["local sort"]

    assert local_sort(4, True) < local_sort(4, False)
    assert local_sort(8, True) == local_sort(8, False)


@pytest.mark.parametrize("ranks", [(1, 1), (2, 2), (4, 1)])
def test_rows_that_are_fetched_at_the_end_are_priced_like_a_take(ranks: tuple[int, int]) -> None:
    n, row = 1 << 24, 64
    plain, fetched = SortShape(U32, 12, n, 32, *ranks), SortShape(U32, 12, n, 32, *ranks, fetched=row)
    take = total(memory.predict_take(BUILT_IN, TakeShape(row, n, *ranks), ranks[0] == ranks[1]))
    for predict in SORTS:
        travelling, wide = dict(predict(plain)), dict(predict(fetched))
        assert wide["unpack"] >= travelling["unpack"] + take > 10 * travelling["unpack"] / 9
        assert wide["pack"] > travelling["pack"]  # positions are made first
        others = set(wide) - {"pack", "unpack"}
        assert all(wide[name] == travelling[name] for name in others)


def test_ranks_that_share_a_core_wait_for_each_others_turns() -> None:
    """A few ms after each step of work, however short the wait itself is measured to be."""
    on_cores, sharing = (
        dict(memory.predict_highest_first(BUILT_IN, shape(1 << 26, 4, 32, n, n), (21, 11))) for n in (2, 4)
    )
    assert BUILT_IN.cores == 2
    for step in ("transpose", "balance"):
        assert on_cores[step] < 1e-3 and 3e-3 < sharing[step] < 5e-3
    assert sharing["untranspose"] < 1e-3  # no work between two waits


@pytest.mark.parametrize(
    "bad",
    [
        SortShape(U32, 3, 100, 32, 2, 2),  # narrower than the key
        SortShape(U32, 4, 100, 32, 0, 1),
        SortShape(U32, 4, 100, 32, 2, 0),
    ],
)
def test_shapes_that_cannot_be(bad: SortShape) -> None:
    for predict in SORTS:
        with pytest.raises(_core.InputError):
            predict(bad)


def test_digits_that_cannot_be() -> None:
    for digit in ((0, 0), (0, 13)):
        with pytest.raises(_core.InputError, match="digit"):
            memory.predict_radix(BUILT_IN, shape(), [digit])
        with pytest.raises(_core.InputError, match="digit"):
            memory.predict_highest_first(BUILT_IN, shape(), digit)


def test_elements_of_no_bytes_cannot_be_taken() -> None:
    with pytest.raises(_core.InputError, match="no bytes"):
        memory.predict_take(BUILT_IN, TakeShape(0, 100, 2, 2), False)
