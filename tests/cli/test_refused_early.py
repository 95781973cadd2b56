"""Requests that cannot work are refused before anything is started, built or computed."""

from __future__ import annotations

from pathlib import Path

import numpy
import pytest

from hocket.lab.state import MOST_HOSTS, MOST_RANKS
from refusals import refused


@pytest.fixture
def nothing_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a launcher nor a lab nor a compiler may be started."""

    def started(*_: object, **__: object) -> None:
        raise AssertionError("something was started")

    monkeypatch.setattr("hocket.launch.environment.scheduled_environment", started)
    monkeypatch.setattr("hocket.lab.Lab._build", started)
    monkeypatch.setattr("hocket.doctor.examine", started)


@pytest.fixture
def launcher(tmp_path: Path) -> str:
    """Launcher that prints the version of MPICH's and starts nothing."""
    path = tmp_path / "mpiexec"
    path.write_text("#!/bin/sh\necho HYDRA build details: Version: 4.2\nexit 3\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def open_launcher(tmp_path: Path) -> str:
    path = tmp_path / "mpirun"
    path.write_text('#!/bin/sh\necho "mpirun (Open MPI) 5.0.8"\nexit 3\n')
    path.chmod(0o755)
    return str(path)


@pytest.mark.usefixtures("nothing_starts")
@pytest.mark.parametrize("command", [("run", "-n", "2"), ("lab", "run")], ids=" ".join)
def test_missing_programs(
    hocket, launcher: str, tmp_path: Path, monkeypatch, command: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data").write_text("no program")
    start = (*command, "--network", "star:4", "--mpi", launcher)
    refused(hocket(*start, "no-such-program"), "no-such-program: no such program on PATH; give its path")
    refused(hocket(*start, "./none"), "./none: no such program; check its path")
    refused(hocket(*start, "./data"), "./data is not executable; chmod +x ./data")
    refused(hocket(*start, "data"), "data: no such program on PATH; give its path; did you mean ./data?")
    refused(hocket(*start, str(tmp_path)), f"{tmp_path} is a directory; name the program in it")


@pytest.mark.usefixtures("nothing_starts")
def test_open_mpi_finds_programs_in_the_working_directory(
    hocket, open_launcher, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("here").write_text("#!/bin/sh\n")
    start = ("run", "-n", "2", "--network", "star:4", "--mpi", open_launcher)
    refused(hocket(*start, "here"), "no such program on PATH")  # not executable
    Path("here").chmod(0o755)
    with pytest.raises(AssertionError, match="something was started"):
        hocket(*start, "here")


@pytest.mark.usefixtures("nothing_starts")
def test_other_hosts_may_have_the_program(hocket, launcher: str, tmp_path: Path, capsys) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("a\nb\n")
    start = ("run", "-n", "2", "--network", "star:4", "--mpi", launcher, "--hostfile", hosts)
    with pytest.raises(AssertionError, match="something was started"):
        hocket(*start, "no-such-program")
    from hocket.cli._shared.launching import check_program, chosen_mpi

    check_program("no-such-program", chosen_mpi(launcher, "auto", "true"), elsewhere=True)
    assert "note: no-such-program: no such program on PATH on this host" in capsys.readouterr().err


@pytest.mark.usefixtures("nothing_starts")
def test_missing_hostfiles(hocket, launcher: str, tmp_path: Path) -> None:
    missing = tmp_path / "hosts"
    for start in (
        ("run", "-n", "2", "--network", "star:4", "--hostfile", missing, "true"),
        ("hocket-sort", "--hostfile", missing, "a.npy", "b.npy"),
        ("doctor", "--hostfile", missing),
    ):
        refused(
            hocket(*start), f"--hostfile {missing}: No such file or directory; name a file that lists hosts"
        )
    refused(hocket("doctor", "--hostfile", tmp_path), f"--hostfile {tmp_path}: Is a directory")


@pytest.mark.usefixtures("nothing_starts")
def test_reports_that_cannot_be_written(hocket, launcher: str, tmp_path: Path) -> None:
    start = ("run", "-n", "2", "--network", "star:4", "--mpi", launcher)
    for folder in ("/proc", "/sys"):  # nobody can write there, not even root
        if Path(folder).is_dir():
            refused(
                hocket(*start, f"--report={folder}/calls.json", "true"), f"cannot write {folder}/calls.json"
            )
    refused(hocket(*start, f"--report={tmp_path}/none/calls.json", "true"), "there is no directory")
    with pytest.raises(AssertionError, match="something was started"):
        hocket(*start, f"--report={tmp_path}/calls.json", "true")
    assert not (tmp_path / "calls.json").exists()


@pytest.mark.parametrize(
    "command",
    [
        ("plan", "all-to-all", "--network", "star:4", "-o"),
        ("plan", "all-to-all", "--network", "star:4", "--dump"),
        ("simulate", "--network", "star:4", "--plot"),
        ("network", "balance", "torus:4x4", "-o"),
    ],
    ids=" ".join,
)
def test_outputs_that_cannot_be_written(
    hocket, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    def read(*_: object, **__: object) -> None:
        raise AssertionError("the work began")

    monkeypatch.setattr("hocket.network.read_network", read)
    begin = "heat=" if command[-1] == "--plot" else ""
    ending = {"--plot": "png", "-o": "toml" if command[0] == "network" else "hkt"}
    refused(
        hocket(*command, f"{begin}/proc/x.{ending.get(command[-1], 'csv')}"),
        "cannot write /proc/x.",
        "choose another",
    )


@pytest.mark.usefixtures("nothing_starts")
def test_too_much_for_one_machine(
    hocket, launcher: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for command in (("up",), ("run", "--mpi", launcher, "--network")):
        refused(
            hocket("lab", *command, "star:100000", *(["true"] if "run" in command else [])),
            f"100,000 hosts are too many for a lab, which is one machine; give a network of at most {MOST_HOSTS}",
        )
    run = ("lab", "run", "--mpi", launcher, "--network")
    refused(
        hocket(*run, "star:4*65536", "true"), "262,144 ranks are too many", f"at most {MOST_RANKS:,} ranks"
    )
    refused(
        hocket(*run, "star:4", "-n", "5", "true"), "5 ranks do not fit; the lab's hosts hold 1 to 4 ranks"
    )
    for name in ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "COBALT_JOBID", "JOB_ID"):
        monkeypatch.delenv(name, raising=False)
    refused(hocket("doctor", "-n", "100000"), "-n 100000: more than the", "give at most", "--hostfile")
    monkeypatch.setattr("hocket.measure.memory.calibrate", lambda *_: pytest.fail("ranks were started"))
    measure = hocket("calibrate", "memory", "-n", "99999", "--mpi", launcher)
    refused(measure, "-n 99999: more than the", "give at most")
    assert "--hostfile" not in measure.err
    monkeypatch.setattr("hocket.sorting.job.sorted_by", lambda *_, **__: pytest.fail("ranks were started"))
    keys = tmp_path / "keys.npy"
    numpy.save(keys, numpy.arange(9))
    sort = hocket("hocket-sort", keys, tmp_path / "sorted.npy", "-n", "99999", "--mpi", launcher)
    refused(sort, "-n 99999: more than the", "that this machine can start")
    hosts = tmp_path / "hosts"
    hosts.write_text("a\n")
    with pytest.raises(AssertionError, match="something was started"):
        hocket("doctor", "-n", "100000", "--hostfile", hosts)
    monkeypatch.setenv("SLURM_JOB_ID", "17")
    with pytest.raises(AssertionError, match="something was started"):
        hocket("doctor", "-n", "100000")
