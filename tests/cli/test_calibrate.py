"""hocket calibrate memory: what it measures, keeps, shows and refuses."""

from __future__ import annotations

from pathlib import Path

import pytest
from hocket._core.memory import WORKS, Profile

from cli.conftest import Call
from hocket.costs import model as profiles
from hocket.errors import HocketError
from hocket.launch.mpi import Mpi, MpiFamily
from hocket.measure import memory as calibrate

TRANSFERS = ["1C1", "sC1", "1Cs", "wC1", "1Cw", "1S0", "Nd", "0R1", "wS0", "0Rw", "Nadp"]


@pytest.fixture
def built_in(tmp_path: Path) -> Path:
    path = tmp_path / "built-in.txt"
    path.write_text(Profile.built_in().text())
    return path


@pytest.mark.by_turns
def test_measures_and_keeps(hocket: Call, tmp_path: Path, mpi: Mpi, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine figures differ, and are measured again for as long as there is time."""
    monkeypatch.setattr(calibrate, "_QUICK_BUDGET", 6.0)
    path = tmp_path / "memory.txt"
    arguments = ["--mpi", mpi.mpiexec, "-n", "2", "--quick", "--memory", "1MiB", "-o", path, "--json"]
    answer = hocket("calibrate", "memory", *arguments, "--evaluate", "1C1 o 1C1")
    assert answer.code == 0, answer.err
    report = answer.object()
    assert list(report["transfers"]) == TRANSFERS and min(report["transfers"].values()) > 0
    assert report["evaluated"] == pytest.approx(report["transfers"]["1C1"] / 2)
    profile = Profile.parse(path.read_text())
    assert report["profile"] == str(path) and report["origin"] == profile.origin
    assert {figure[0] for figure in profile.figures} == set(WORKS)
    assert {figure[1] for figure in profile.figures} == {1, 2}


def test_shows_a_profile(hocket: Call, built_in: Path) -> None:
    answer = hocket("calibrate", "memory", "--show", built_in, "--evaluate", "wC1 o (1S0 || Nd || 0R1) o 1Cw")
    assert answer.code == 0 and answer.err == ""
    assert answer.out.startswith(Profile.built_in().origin)
    for transfer in TRANSFERS:
        assert f"\n{transfer} " in answer.out
    assert "permutation, chained" in answer.out and answer.out.rstrip().endswith("MB/s")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["-n", "1"], "-n 1 is not accepted"),
        (["-n", "0"], "-n 0 is not accepted"),
        (["--memory", "1KiB"], "are too few or too many to measure with"),
        (["--memory", "900GiB"], "are too few or too many to measure with"),
        (["--evaluate", "wC1 o"], "at character 6"),
        (["--show", "--evaluate", "7C7"], "no figure for 7C7"),
        (["--show", "/no/such/file"], "cannot read the memory profile /no/such/file"),
        (["--mpi", "no-such-mpiexec"], "not a launcher"),
        (["-o", "/no/such/place/file"], "cannot write"),
    ],
)
def test_bad_input(hocket: Call, arguments: list[str], complaint: str) -> None:
    answer = hocket("calibrate", "memory", *arguments)
    assert answer.code == 2 and complaint in answer.err and "Traceback" not in answer.err
    assert answer.out == ""


def test_a_damaged_file_is_named_with_its_line(hocket: Call, built_in: Path) -> None:
    built_in.write_text(built_in.read_text().replace("cores 2", "cores many"))
    answer = hocket("calibrate", "memory", "--show", built_in)
    assert answer.code == 2 and str(built_in) in answer.err and "line 3" in answer.err


def test_which_profile_is_in_use(
    hocket: Call, tmp_path: Path, built_in: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("HOCKET_MEMORY", raising=False)
    assert profiles.read_profile().origin == Profile.built_in().origin
    for name, path in (("kept", profiles.kept_path()), ("named", tmp_path / "named.txt")):
        built = Profile.built_in()
        path.write_text(Profile(name, built.cores, built.wire, built.figures).text())
    assert hocket("calibrate", "memory", "--show").out.splitlines()[0] == "kept"
    monkeypatch.setenv("HOCKET_MEMORY", str(tmp_path / "named.txt"))
    assert profiles.read_profile().origin == "named"
    assert profiles.read_profile(built_in).origin == Profile.built_in().origin


def test_what_there_is_no_time_for_is_built_in(tmp_path: Path) -> None:
    launcher = tmp_path / "mpiexec"
    launcher.write_text("""#!/bin/sh
        echo 'hocket-job:{"at": 0, "of": 90, "work": "copy"}'
        echo 'hocket-job:{"answer": {"figures": [["copy", '$2', 1, 1, 4096, 1e-9]], "of": 90, "differing": 0}}'
    """)
    launcher.chmod(0o755)
    profile = calibrate.calibrate(
        Mpi(MpiFamily.MPICH, str(launcher)), 2, 1 << 20, True, lambda at, of, what: None
    )
    assert [figure for figure in profile.figures if figure[0] == "copy"] == [
        ("copy", ranks, 1, 1, 4096, 1e-9) for ranks in (1, 2)
    ]
    built_in = Profile.built_in().figures
    assert [figure for figure in profile.figures if figure[0] != "copy"] == [
        figure for figure in built_in if figure[0] != "copy"
    ]
    assert "178 of 180 figures left out for want of time; built-in figures: " in profile.origin
    assert "copy" not in profile.origin.partition("built-in figures")[2].split(", ")


def test_a_busy_machine_and_a_profile_that_makes_sorting_slower_are_said(
    hocket: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    launcher = tmp_path / "mpiexec"
    times = '{"uint32 zipf": [[0.21, 0.2], [0.1, 0.1]], "uint64 uniform": [[0.1, 0.1], [0.1, 0.1]]}'
    launcher.write_text(f"""#!/bin/sh
        case "$*" in
        *--version*) echo 'HYDRA build details:'; echo '    Version: 5.0.2' ;;
        *memory_ranks:trial*) echo 'hocket-job:{{"answer": {times}}}' ;;
        *) echo 'hocket-job:{{"answer": {{"figures": [["copy", '$2', 1, 1, 4096, 1e-9]], "of": 1, "differing": 1}}}}' ;;
        esac
    """)
    launcher.chmod(0o755)
    monkeypatch.setattr("hocket.launch.mpi.find_mpi", lambda name: Mpi(MpiFamily.MPICH, str(launcher)))
    path = tmp_path / "memory.txt"
    answer = hocket("calibrate", "memory", "-n", "2", "-o", path)
    assert answer.code == 0, answer.err
    assert (
        "2 of 2 figures differ between measurements: the machine was busy"
        in Profile.parse(path.read_text()).origin
    )
    first, second = (line for line in answer.err.splitlines() if line.startswith("hocket: warning: "))
    assert "many figures differ between measurements" in first and "again when nothing else runs" in first
    assert (
        "sorting uint32 zipf keys takes 2.0 times as long by this profile" in second and str(path) in second
    )


def test_ranks_that_hang_are_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launcher = tmp_path / "mpiexec"
    launcher.write_text("""#!/bin/sh
        echo 'hocket-job:{"at": 0, "of": 1, "work": "copy"}'
        sleep 60
    """)
    launcher.chmod(0o755)
    monkeypatch.setattr(calibrate, "_PATIENCE", 1.0)
    heard: list[tuple[int, int, str]] = []
    with pytest.raises(HocketError, match="have not reported for 1 s"):
        calibrate.calibrate(
            Mpi(MpiFamily.MPICH, str(launcher)), 2, 1 << 20, True, lambda *step: heard.append(step)
        )
    assert heard == [(0, 1, "copy, one rank")]
