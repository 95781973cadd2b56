"""Timings as text: what is written is read, what is damaged is refused, and merging loses nothing."""

from __future__ import annotations

import math
import string

import pytest
from hocket._core import InputError
from hocket._core.choose import (
    CandidateTimings,
    KeptTimings,
    kept_timings_text,
    least_bytes,
    merge,
    parse_kept_timings,
    size_class,
)
from hypothesis import given
from hypothesis import strategies as st

names = st.text(set(string.printable) - set(string.whitespace) - set(",="), min_size=1, max_size=20)
times = st.floats(0, 1e6)
candidates = st.lists(
    st.builds(CandidateTimings, names, st.integers(0, 2**53), times, times),
    min_size=1, max_size=5, unique_by=lambda candidate: candidate.name,
)  # fmt: skip


@st.composite
def all_timings(draw: st.DrawFn) -> KeptTimings:
    measured = draw(candidates)
    winner = draw(st.sampled_from(measured)).name
    size = draw(st.integers(0, 127))
    numbers = st.integers(0, 2**32 - 1)
    return KeptTimings(
        draw(names), draw(names), size, draw(names), winner, measured,
        draw(numbers), draw(numbers), draw(names),
    )  # fmt: skip


def key(one: KeptTimings) -> tuple[str, str, int, str]:
    return one.place, one.call, one.size_class, one.layout


some = st.lists(all_timings(), max_size=5, unique_by=key)

LINE = (
    "place=p call=alltoall size=28 layout=equal ranks=8 hosts=2 mpi=mpich winner=w"
    " candidate=native,9,0.5,0.1 candidate=w,12,0.25,0"
)
GOOD = f"hocket choices 2\n{LINE}\n"


@given(some)
def test_what_is_written_is_read(timings: list[KeptTimings]) -> None:
    text = kept_timings_text(timings)
    assert parse_kept_timings(text) == timings
    assert kept_timings_text(parse_kept_timings(text)) == text


def test_a_line() -> None:
    native, winner = CandidateTimings("native", 9, 0.5, 0.1), CandidateTimings("w", 12, 0.25)
    one = KeptTimings("p", "alltoall", 28, "equal", "w", [native, winner], 8, 2, "mpich")
    assert kept_timings_text([one]) == GOOD
    assert kept_timings_text([]) == "hocket choices 2\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ("hocket choices 1\n", 1),
        ("hocket choices 2", 1),
        (GOOD[:-1], 3 - 1),
        (GOOD + LINE + "\n", 3),  # the same key twice
        (GOOD + "\n", 3),
        (GOOD.replace("size=28", "size=128"), 2),
        (GOOD.replace("size=28", "size=-1"), 2),
        (GOOD.replace("size=28", "size=28x"), 2),
        (GOOD.replace("winner=w", "settled=1 winner=w"), 2),
        (GOOD.replace("ranks=8", "ranks=4294967296"), 2),
        (GOOD.replace("hosts=2 ", ""), 2),
        (GOOD.replace("winner=w", "winner=other"), 2),
        (GOOD.replace("candidate=w", "candidate=native"), 2),
        (GOOD.replace("0.25", "nan"), 2),
        (GOOD.replace("0.25", "-1"), 2),
        (GOOD.replace("0.25", "1e999"), 2),
        (GOOD.replace("candidate=w,12", f"candidate=w,{2**60}"), 2),
        (GOOD.replace("candidate=w,12", "candidate=w"), 2),
        (GOOD.replace("0.25,0", "0.25,0,2"), 2),
        (GOOD.replace("0.25,0", "0.25,0,2,0"), 2),
        (GOOD.replace("place=p", "place="), 2),
        (GOOD.replace("place=p ", ""), 2),
        (GOOD.replace("place=p", "place=" + "p" * 300), 2),
        (GOOD.replace("place=p", "place=\x1b[2J"), 2),
    ],
)
def test_damaged_text_is_refused(text: str, line: int) -> None:
    with pytest.raises(InputError, match=rf"^line {line}: .*hocket tune clear") as refusal:
        parse_kept_timings(text)
    assert str(refusal.value).isprintable()


@given(st.data())
def test_no_mutation_does_harm(data: st.DataObject) -> None:
    """Whatever is read can be written again."""
    text = bytearray(GOOD.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text) - 1))
        if data.draw(st.booleans()):
            text[at] = data.draw(st.integers(0, 127))
        else:
            del text[at : at + data.draw(st.integers(1, 20))]
            text += b"\n"
    try:
        found = parse_kept_timings(text.decode())
    except InputError:
        return
    assert parse_kept_timings(kept_timings_text(found)) == found


@given(some, some)
def test_merging_loses_no_key(kept: list[KeptTimings], learned: list[KeptTimings]) -> None:
    merged = merge(kept, learned)
    assert {key(one) for one in merged} == {key(one) for one in [*kept, *learned]}
    assert parse_kept_timings(kept_timings_text(merged)) == merged
    assert merge([], merged) == merged
    assert merge(merged, []) == merged


def about(*measured: CandidateTimings, winner: str = "native") -> KeptTimings:
    return KeptTimings("p", "alltoall", 28, "equal", winner, list(measured))


def test_counts_are_added_and_times_weighed() -> None:
    kept = about(CandidateTimings("native", 10, 1.0, 0.1), CandidateTimings("a", 5, 3.0))
    learned = about(CandidateTimings("native", 30, 2.0, 0.5), CandidateTimings("b", 7, 4.0))
    (both,) = merge([kept], [learned])
    assert both.candidates == [
        CandidateTimings("native", 40, 1.75, 0.4),
        CandidateTimings("a", 5, 3.0),
        CandidateTimings("b", 7, 4.0),
    ]


def test_the_past_does_not_weigh_for_ever() -> None:
    (both,) = merge(
        [about(CandidateTimings("native", 10**6, 1.0))], [about(CandidateTimings("native", 1024, 3.0))]
    )
    assert both.candidates[0].seconds == 2.0


def test_the_winner_is_what_costs_least_of_all_measured() -> None:
    native, slow, fast = (
        CandidateTimings("native", 10, 1.0),
        CandidateTimings("a", 10, 1.9),
        CandidateTimings("a", 10, 0.5),
    )
    never = CandidateTimings("never", 0, 0.0)
    for kept, learned, winner in (
        (about(native, fast, winner="a"), about(native), "a"),
        (about(native), about(native, fast, winner="a"), "a"),
        (about(native, fast, winner="a"), about(native, slow), "native"),
        (about(native, never), about(native), "native"),
    ):
        assert merge([kept], [learned])[0].winner == winner


def test_size_classes_are_half_an_octave() -> None:
    assert [size_class(size) for size in (0, 1, 2, 3, 4, 5, 6, 8)] == [0, 0, 2, 3, 4, 4, 5, 6]
    assert size_class(2**64 - 1) == 127
    for number in range(2, 128):
        least = least_bytes(number)
        assert size_class(least) == number
        assert size_class(least - 1) < number
        assert 2 ** (number / 2) <= least * (1 + 1e-12)
        assert least < 2 ** (number / 2) + 1 + 1e4 * (number > 60) * math.ldexp(1, number // 2 - 53)
    with pytest.raises(InputError, match="128"):
        least_bytes(128)
