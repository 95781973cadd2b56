"""Profiles: their text form, and what they say between and beyond what was measured."""

from __future__ import annotations

import math
import random

import pytest
from hocket._core.memory import WORKS, Profile
from hypothesis import given
from hypothesis import strategies as st

from hocket import _core

Row = tuple[str, int, int, int, int, float]

COUNTS = st.integers(1, 2**31)
SECONDS = st.floats(1e-13, 1e3)


def profile(*rows: Row, cores: int = 4) -> Profile:
    """These figures; works that they do not name cost a second."""
    named = {row[0] for row in rows}
    others = [(work, 1, 1, 1, 1, 1.0) for work in WORKS if work not in named]
    return Profile("made up", cores, (1e9, 1e-5), [*rows, *others])


def test_what_is_measured_comes_back() -> None:
    made = profile(("gather", 2, 8, 1, 1024, 3e-9), ("gather", 2, 8, 1, 4096, 5e-9))
    assert made.seconds("gather", ranks=2, width=8, bytes=1024) == 3e-9
    assert made.seconds("gather", ranks=2, width=8, bytes=4096) == 5e-9


def test_between_figures_scales_are_logarithmic() -> None:
    made = profile(("gather", 1, 8, 1, 1024, 2e-9), ("gather", 1, 8, 1, 4096, 8e-9))
    assert made.seconds("gather", width=8, bytes=2048) == pytest.approx(4e-9)


def test_every_coordinate_counts() -> None:
    made = profile(
        *[
            ("partition", ranks, width, parts, size, 1e-9 * ranks * width * parts * size)
            for ranks in (1, 4)
            for width in (4, 16)
            for parts in (256, 4096)
            for size in (1 << 10, 1 << 20)
        ]
    )
    # A power law is what log-log interpolation gives exactly.
    found = made.seconds("partition", ranks=2, width=8, parts=1024, bytes=1 << 15)
    assert found == pytest.approx(1e-9 * 2 * 8 * 1024 * (1 << 15))


def test_beyond_the_figures() -> None:
    made = profile(("scatter", 1, 4, 1, 1024, 1e-9), ("scatter", 1, 8, 1, 1024, 2e-9), cores=8)
    assert made.seconds("scatter", width=8, bytes=1) == 2e-9
    assert made.seconds("scatter", width=8, bytes=1 << 40) == 2e-9
    assert made.seconds("scatter", width=1, bytes=1024) == 1e-9
    assert made.seconds("scatter", width=80, bytes=1024) == pytest.approx(20e-9)  # bytes take their time
    assert made.seconds("scatter", ranks=8, width=8) == 2e-9
    assert made.seconds("scatter", ranks=32, width=8) == pytest.approx(8e-9)  # four ranks to a core


def test_figures_of_more_ranks_than_cores_hold_already_their_turns() -> None:
    made = profile(("scan", 4, 8, 1, 1, 2e-9), cores=2)
    assert made.seconds("scan", ranks=4, width=8) == 2e-9
    assert made.seconds("scan", ranks=8, width=8) == pytest.approx(4e-9)


@given(st.lists(st.tuples(st.sampled_from(WORKS), COUNTS, COUNTS, COUNTS, COUNTS, SECONDS), max_size=30))
def test_text_round_trip(rows: list[Row]) -> None:
    distinct = list({row[:5]: row for row in rows}.values())
    made = profile(*distinct)
    again = Profile.parse(made.text())
    assert again.text() == made.text()
    assert again.figures == made.figures and len(again.figures) >= len(WORKS)
    assert (again.origin, again.cores, again.wire) == ("made up", 4, (1e9, 1e-5))


@given(st.sampled_from(WORKS), COUNTS, COUNTS, COUNTS, COUNTS)
def test_the_built_in_profile_answers_everything(
    work: str, ranks: int, width: int, parts: int, size: int
) -> None:
    seconds = Profile.built_in().seconds(work, ranks=ranks, width=width, parts=parts, bytes=size)
    assert 0 < seconds < math.inf


GOOD = Profile.built_in().text()


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        ("hocket memory profile 1", "hocket memory profile 2", "line 1 .* begins with"),
        ("cores 2", "cores two", "line 3 .*'two' cannot be a number of cores"),
        ("cores 2", "cores 0", "without cores"),
        ("cores 2", "cores 2 3", "line 3 .*'3' is one word too many"),
        ("cores 2", "core 2", "line 3 .*no work 'core'"),
        ("wire ", "wire -", "wire must be positive"),
        ("\nmeet ", "\nmet ", "no work 'met'"),
        ("\ncollective ", "\n# ", "no figure for collective; calibrate again"),
        ("\nscan 2", "\nscan 99999999999", "cannot be a number of ranks"),
        ("\nscan 2", "\nscan 0", "0 ranks"),
        ("\nscan 2", "\nscan 2\n#", "a width in bytes is missing"),
    ],
)
def test_damaged_text(before: str, after: str, problem: str) -> None:
    assert before in GOOD
    with pytest.raises(_core.InputError, match=problem):
        Profile.parse(GOOD.replace(before, after))


@pytest.mark.parametrize("seconds", ["nan", "inf", "-1e-9", "0", "1e-9x", "1e-999"])
def test_seconds_that_make_no_sense(seconds: str) -> None:
    line = next(line for line in GOOD.splitlines() if line.startswith("meet "))
    with pytest.raises(_core.InputError):
        Profile.parse(GOOD.replace(line, line.rsplit(" ", 1)[0] + " " + seconds))


def test_twice_the_same_figure() -> None:
    line = next(line for line in GOOD.splitlines() if line.startswith("meet "))
    with pytest.raises(_core.InputError, match="two figures for meet of the same shape"):
        Profile.parse(GOOD + line + "\n")


def test_too_large() -> None:
    with pytest.raises(_core.InputError, match="more than 1 MiB"):
        Profile.parse(GOOD + "#" * (1 << 20))


def test_an_origin_of_several_lines_would_not_come_back() -> None:
    with pytest.raises(_core.InputError, match="one line"):
        Profile("a\ncores 1", 1, (1.0, 1.0), Profile.built_in().figures)


def test_mutations_are_read_or_refused() -> None:
    """Whatever happens to a file, it is a profile or an InputError, never a crash."""
    draw = random.Random(6)
    refused = 0
    for _ in range(3000):
        text = list(GOOD)
        for _ in range(draw.randint(1, 4)):
            at = draw.randrange(len(text))
            kind = draw.randrange(4)
            if kind == 0:
                text[at] = chr(draw.randrange(1, 127))
            elif kind == 1:
                del text[at : at + draw.randrange(1, 200)]
            elif kind == 2:
                text[at:at] = text[draw.randrange(len(text)) :][: draw.randrange(1, 80)]
            else:
                text = [*text[:at], "\n"]
        try:
            read = Profile.parse("".join(text))
        except _core.InputError:
            refused += 1
            continue
        assert Profile.parse(read.text()).text() == read.text()
    assert 1000 < refused < 3000
