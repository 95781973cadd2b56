"""The algebra of basic transfers."""

from __future__ import annotations

import pytest
from hocket._core.memory import composition, throughput
from hypothesis import given
from hypothesis import strategies as st

from hocket import _core

FIGURES = {
    "1C1": 100.0,
    "wC1": 40.0,
    "1Cs": 20.0,
    "1C8": 25.0,
    "1S0": 60.0,
    "0R1": 80.0,
    "Nd": 30.0,
    "Nadp": 10.0,
}


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("1C1", 100),
        ("1C1 o wC1", 1 / (1 / 100 + 1 / 40)),
        ("1C1 o 1C1 o 1C1", 100 / 3),
        ("1S0 || Nd || 0R1", 30),
        ("wC1 o (1S0 || Nd || 0R1) o 1C1", 1 / (1 / 40 + 1 / 30 + 1 / 100)),
        ("wC1 o 1S0 || 0R1", 1 / (1 / 40 + 1 / 60)),  # || binds closer
        ("(1S0 || 0R1) within 70", 35),  # two use the memory at the same time
        ("(1S0 || Nd || 0R1) within 1C1", 30),  # which is enough for both
        ("1S0 within 50", 50),
        ("(1C1 o 1C1) within 30", 30),  # one after the other: one user
        ("((1S0 || 0R1) within 70 || Nd) within 50", 25),
        ("1C8", 25),
        ("1C9", 20),  # any stride
        ("ωC1", 40),
    ],
)
def test_throughput(text: str, rate: float) -> None:
    assert throughput(text, FIGURES) == pytest.approx(rate, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "at character 1 .* not the end"),
        ("1C1 o", "at character 6"),
        ("(1S0 || Nd", "at character 11 .* closing parenthesis"),
        ("1C1 1C1", "at character 5 .* o, || or the end"),
        ("1C1)", "at character 4"),
        ("2S1", "a basic transfer"),
        ("0C1", "a basic transfer"),
        ("1C0", "a basic transfer"),
        ("1C99999999999", "a basic transfer"),
        ("1C1 within -3", "a number of MB/s"),
        ("1C1 within 0", "a number of MB/s"),
        ("1C1 within inf", "a number of MB/s"),
        ("(" * 60 + "1C1", "fewer parentheses"),
        ("1C1 o " * 200 + "1C1", "1000 characters"),
    ],
)
def test_what_makes_no_sense_is_refused(text: str, problem: str) -> None:
    with pytest.raises(_core.InputError, match=problem.replace("||", r"\|\|")):
        composition(text)


def test_a_missing_figure_is_named() -> None:
    with pytest.raises(_core.InputError, match="no figure for 0Rw; there are 0R1, 1C1"):
        throughput("1C1 || 0Rw", FIGURES)


@pytest.mark.parametrize("figures", [{"1C1": 0.0}, {"1C1": -1.0}, {"1C1": float("nan")}, {"2X2": 1.0}])
def test_figures_that_make_no_sense(figures: dict[str, float]) -> None:
    with pytest.raises(_core.InputError):
        throughput("1C1", figures)


BASIC = st.sampled_from(sorted(FIGURES))
COMPOSED = st.recursive(
    BASIC,
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: " o ".join(f"({part})" for part in parts)),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: " || ".join(f"({part})" for part in parts)),
        st.tuples(inner, st.integers(1, 200)).map(lambda pair: f"({pair[0]}) within {pair[1]}"),
    ),
    max_leaves=12,
)


@given(COMPOSED)
def test_writing_and_reading_again_changes_nothing(text: str) -> None:
    if len(text) > 900:
        return
    written = composition(text)
    assert composition(written) == written
    assert throughput(written, FIGURES) == throughput(text, FIGURES)


@given(COMPOSED, COMPOSED)
def test_no_composition_is_faster_than_its_parts(a: str, b: str) -> None:
    if len(a) + len(b) > 900:
        return
    slower = min(throughput(a, FIGURES), throughput(b, FIGURES))
    assert throughput(f"({a}) || ({b})", FIGURES) == slower
    assert throughput(f"({a}) o ({b})", FIGURES) < slower


@given(st.text(alphabet="01wsωCSRN dap()|o.within", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        written = composition(text)
    except _core.InputError:
        return
    assert composition(written) == written
