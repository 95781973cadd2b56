"""hocket tune: what is kept is shown, forgotten, and told to MPI libraries as far as they can be told."""

from __future__ import annotations

import json
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
    for command in (["show"], ["export", "--to", "openmpi"]):
        answer = hocket("tune", *command)
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


def test_says_what_is_wrong(hocket: Call, kept: Path, tmp_path: Path) -> None:
    some(kept)
    for arguments, error in (
        (["show", "--place", "zz"], "no timings are kept for the place 'zz'"),
        (["clear", "--place", "zz"], "no timings are kept for the place 'zz'"),
        (["clear"], "nothing says which places to forget"),
        (["clear", "--all", "--place", PLACE], "nothing says which places to forget"),
        (["export", "--to", "mpich"], "name its libmpi.so"),
        (["export", "--to", "openmpi", "--library", "libmpi.so"], "--library is for --to mpich"),
        (["export", "--to", "mpich", "--library", tmp_path / "none"], "cannot read the MPI library"),
        (["export", "--to", "mpich", "--library", kept / f"{PLACE}.txt"], "holds no decisions"),
        (["export", "--to", "openmpi", "-o", tmp_path / "none" / "file"], "none"),
    ):
        answer = hocket("tune", *arguments)
        assert (answer.code, answer.out) == (2, "")
        assert error in answer.err


def test_rules_of_openmpi(hocket: Call, kept: Path, tmp_path: Path) -> None:
    """The file has been tried: Open MPI 5 takes other sizes and communicators its own way."""
    some(kept)
    answer = hocket("tune", "export", "--to", "openmpi")
    numbers = [line.partition(" #")[0] for line in answer.out.splitlines()]
    assert numbers == [
        "1", "3", "3",
        "0", "1", "0 0 0 0",
        "4", "4", "0 0 0 0", "4096 2 0 0", "5796 2 0 0", "8192 0 0 0",
        "5", "1", "0 0 0 0",
    ]  # fmt: skip
    assert "rules: 2; " in answer.err and "fastest: 2; " in answer.err and "express: 1 (" in answer.err
    path = tmp_path / "rules"
    assert hocket("tune", "export", "--to", "openmpi", "-o", path).out == ""
    assert path.read_text() == answer.out


def test_rules_of_openmpi_6(hocket: Call, kept: Path) -> None:
    some(kept)
    rules = hocket("tune", "export", "--to", "openmpi-6").object()
    assert rules == {"collectives": {"alltoall": [{"comm_size_min": 4, "comm_size_max": 4, "rules": [
        {"msg_size_min": 4096, "msg_size_max": 5795, "alg": "pairwise"},
        {"msg_size_min": 5796, "msg_size_max": 8191, "alg": "pairwise"},
    ]}]}}  # fmt: skip


def mpich_like(path: Path) -> Path:
    selection = {
        "collective=alltoall": {"comm_type=intra": {"algorithm=MPIR_Alltoall_intra_brucks": {}},
                                "comm_type=inter": {"algorithm=MPIR_Alltoall_inter_pairwise_exchange": {}}},
        "collective=barrier": {"algorithm=MPIR_Barrier_intra_smp": {}},
    }  # fmt: skip
    other = {"collective=alltoall": {"composition=MPIDI_Alltoall_intra_composition_alpha": {}}}
    strings = [json.dumps(other, separators=(",", ":")), json.dumps(selection, separators=(",", ":"))]
    strings += ["algorithm=MPIR_Alltoall_intra_pairwise", "algorithm=MPIR_Alltoall_intra_brucks"]
    path.write_bytes(b"\x7fELF\0" + b"\0".join(one.encode() for one in strings) + b"\0")
    return path


def test_rules_of_mpich(hocket: Call, kept: Path, tmp_path: Path) -> None:
    """The library's own decisions stay, for other sizes and communicators, in place, and of other calls."""
    some(kept)
    rules = hocket(
        "tune", "export", "--to", "mpich", "--library", mpich_like(tmp_path / "libmpi.so")
    ).object()
    own = {"algorithm=MPIR_Alltoall_intra_brucks": {}}
    pairwise = {"algorithm=MPIR_Alltoall_intra_pairwise": {}}
    assert list(rules) == ["collective=alltoall", "collective=barrier"]
    intra = rules["collective=alltoall"]["comm_type=intra"]
    assert list(intra) == ["comm_size<=3", "comm_size<=4", "comm_size=any"]
    assert intra["comm_size<=3"] == intra["comm_size=any"] == own
    assert intra["comm_size<=4"]["is_sendbuf_inplace=yes"] == own
    assert list(intra["comm_size<=4"]["is_sendbuf_inplace=no"].items()) == [
        ("avg_msg_size<=1023", own),
        ("avg_msg_size<=1448", pairwise),
        ("avg_msg_size<=2047", pairwise),
        ("avg_msg_size=any", own),
    ]


def test_algorithms_that_a_library_does_not_have(hocket: Call, kept: Path, tmp_path: Path) -> None:
    write(kept, known("alltoall", 20, "native:nonsense", 1e-3))
    library = ["--library", mpich_like(tmp_path / "libmpi.so")]
    for form, options, names in (
        ("openmpi", [], "linear, pairwise, modified_bruck"),
        ("openmpi-6", [], "linear, pairwise, modified_bruck"),
        ("mpich", library, "brucks, pairwise"),
    ):
        answer = hocket("tune", "export", "--to", form, *options)
        assert answer.code == 2
        assert "no alltoall called nonsense" in answer.err and names in answer.err


def test_places_that_contradict_each_other(hocket: Call, kept: Path) -> None:
    here, there = "native:pairwise", "native:linear"
    write(kept, known("alltoall", 20, here, 1e-3), known("alltoall", 20, there, 1e-3, place=OTHER))
    assert "name one" in hocket("tune", "export", "--to", "openmpi").err
    assert hocket("tune", "export", "--to", "openmpi", "--place", OTHER).code == 0
