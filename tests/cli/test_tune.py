"""hocket tune: what is kept is shown and forgotten."""

from __future__ import annotations

from pathlib import Path

import pytest
from hocket._core.choose import CandidateTimings, KeptTimings, kept_timings_text

from cli.conftest import Call

PLACE, OTHER = "00aa00aa00aa00aa", "bb11bb11bb11bb11"


def candidate(name: str, seconds: float, calls: int = 30) -> CandidateTimings:
    return CandidateTimings(name, calls, seconds, 0.05)


def known(
    call: str, size: int, winner: str, seconds: float, ranks: int = 4, place: str = PLACE
) -> KeptTimings:
    candidates = [candidate("native", 2e-3)] + ([] if winner == "native" else [candidate(winner, seconds)])
    return KeptTimings(place, call, size, "any", winner, candidates, ranks, 2, "mpich-5.0.2")


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory of choices."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path = tmp_path / "hocket" / "choices"
    path.mkdir(parents=True, mode=0o700)
    return path


def write(kept: Path, *timings: KeptTimings) -> None:
    for place in {one.place for one in timings}:
        (kept / f"{place}.txt").write_text(kept_timings_text([one for one in timings if one.place == place]))


def some(kept: Path) -> None:
    write(
        kept,
        known("alltoall", 20, "native:pairwise", 1.5e-3),
        known("alltoall", 21, "native:pairwise", 1.5e-3),
        known("alltoall", 28, "window-2", 1.2e-3),
        known("allgather", 0, "native", 2e-3),
        known("alltoall", 20, "native", 2e-3, ranks=8, place=OTHER),
    )


def test_shows_what_is_kept(hocket: Call, kept: Path) -> None:
    assert "nothing is kept" in hocket("tune", "show").out
    some(kept)
    lines = hocket("tune", "show").out.splitlines()
    assert " ".join(lines[0].split()) == "place ranks/hosts mpi call from winner a call gain measured"
    assert [line.split()[0] for line in lines[1:]] == [PLACE] * 4 + [OTHER]
    told = "mpich-5.0.2 alltoall 16 KiB window-2 1.2 ms 40 % 60"
    assert lines[4].split() == [PLACE, "4/2", *told.split()]
    assert len(hocket("tune", "show", "--place", "bb").out.splitlines()) == 2


def test_shows_it_as_json(hocket: Call, kept: Path) -> None:
    some(kept)
    report = hocket("tune", "show", "--json", "--place", PLACE).object()
    assert report["kept_in"] == str(kept)
    sizes = [(one["call"], one["least_bytes"], one["most_bytes"]) for one in report["choices"]]
    assert sizes == [
        ("allgather", 0, 1), ("alltoall", 1024, 1448), ("alltoall", 1449, 2047), ("alltoall", 16384, 23170),
    ]  # fmt: skip
    last = report["choices"][-1]
    assert (last["winner"], last["ranks"], last["hosts"]) == ("window-2", 4, 2)
    assert last["gain"] == pytest.approx(0.4)
    assert last["candidates"][1] == {"name": "window-2", "calls": 30, "seconds": 1.2e-3, "spread": 0.05}


def test_gain_is_unknown_without_the_librarys_own(hocket: Call, kept: Path) -> None:
    write(kept, KeptTimings(PLACE, "alltoall", 20, "any", "window-2", [candidate("window-2", 1e-3)]))
    (line,) = hocket("tune", "show").out.splitlines()[1:]
    assert line.split()[1:3] == ["-", "unknown"]
    assert hocket("tune", "show", "--json").object()["choices"][0]["gain"] is None


@pytest.mark.parametrize(
    "text", ["nonsense\n", "hocket choices 2\nplace=\x1b[2J\n", "hocket choices 2\nx", ""]
)
def test_damage_is_told_and_can_be_cleared(hocket: Call, kept: Path, text: str) -> None:
    (kept / f"{PLACE}.txt").write_text(text)
    answer = hocket("tune", "show")
    assert answer.code == 2
    assert answer.err.startswith(f"hocket: {kept}/{PLACE}.txt: line ")
    assert "hocket tune clear" in answer.err
    assert "\x1b" not in answer.err
    assert hocket("tune", "clear", "--place", PLACE).code == 0
    assert "nothing is kept" in hocket("tune", "show").out


def test_forgets(hocket: Call, kept: Path) -> None:
    some(kept)
    assert hocket("tune", "clear", "--place", "bb").out == "forgotten: 1 place\n"
    assert [path.stem for path in kept.glob("*.txt")] == [PLACE]
    some(kept)
    assert hocket("tune", "clear", "--all").out == "forgotten: 2 places\n"
    assert hocket("tune", "clear", "--all").out == "forgotten: 0 places\n"


def test_says_what_is_wrong(hocket: Call, kept: Path) -> None:
    some(kept)
    for arguments, error in (
        (["show", "--place", "zz"], "no timings are kept for the place 'zz'"),
        (["clear", "--place", "zz"], "no timings are kept for the place 'zz'"),
        (["clear"], "nothing says which places to forget"),
        (["clear", "--all", "--place", PLACE], "nothing says which places to forget"),
    ):
        answer = hocket("tune", *arguments)
        assert (answer.code, answer.out) == (2, "")
        assert error in answer.err
