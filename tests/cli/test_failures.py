"""Whatever goes wrong: one line on stderr, exit code 2, no traceback, nothing half written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

from hocket.cli._shared.work import write_atomically
from hocket.errors import HocketError
from refusals import refused

TWICE = '[[switch]]\nname = "s0"\nhosts = ["a", "b"]\n[[switch]]\nname = "s1"\nuplink = "s0"\nhosts = ["a"]\n'


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (TWICE, "'a'"),
        ("SwitchName=a Switches=b\nSwitchName=b Switches=a\n", ""),
        ("SwitchName=a Nodes=n[0-3]\nSwitchName=b Nodes=n[4-5]\n", ""),
        ("x" * 10_000_000, ""),
        (b"\xff\xfe\x00broken", ""),
        ("", ""),
    ],
    ids=["twice", "cycle", "unconnected", "long line", "broken utf-8", "empty"],
)
def test_bad_networks(program, tmp_path: Path, content: str | bytes, says: str) -> None:
    name = "topology.conf" if str(content).startswith("SwitchName") else "net.toml"
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    out = tmp_path / "p.hkt"
    refused(program("plan", "all-to-all", "--network", path, "-o", out), name, says)
    assert not out.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("network", "show", "no-such-file.toml"),
        ("network", "show", "star:0"),
        ("network", "show", "ring:8"),
        ("network", "show", "star:4@0Mbit"),
        ("network", "show", "star:4", "--bytes", "many"),
        ("network", "show", "star:4", "--rate", "fast"),
        ("plan", "all-to-all", "--network", "star:4", "--bytes", "0"),
        ("plan", "all-gather", "--network", "star:4", "--bytes", "0"),
        ("plan", "broadcast", "--network", "star:4", "--bytes", "0"),
        ("plan", "all-to-all", "--network", "star:4", "--bytes", "9999999TiB"),
        ("plan", "all-to-all", "--network", "star:4", "--algorithm", "best"),
        ("plan", "all-to-all", "--network", "star:5", "--algorithm", "pairwise"),
        ("plan", "all-to-all", "--network", "torus:3x3", "--algorithm", "tree"),
        ("plan", "all-to-all", "--network", "star:4", "--rank", "4"),
        ("plan", "all-to-all", "--network", "mesh:99x99", "--rank", "0"),
        ("plan", "all-to-all", "--network", "star:4", "--rank", "0", "-o", "x.hkt"),
        ("plan", "all-to-all", "--network", "star:100000"),
        ("simulate", "--network", "star:4", "--flow", "tokens"),
        ("simulate", "--network", "star:4", "--plot", "heat=x.gif"),
        ("simulate", "--network", "star:4", "--plot", "x.svg"),
        ("simulate", "--network", "star:4", "--plot", "cold=x.svg"),
        ("simulate", "--network", "star:4", "--alpha", "soon"),
        ("simulate", "--network", "star:4", "--alpha", "1e300s"),
        ("plan", "all-gather", "--network", "star:4", "--alpha", "1e300s"),
    ],
    ids=" ".join,
)
def test_bad_requests(
    hocket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    refused(hocket(*arguments))
    assert list(tmp_path.iterdir()) == []


def test_places_that_cannot_be_written(program, tmp_path: Path) -> None:
    for path in (tmp_path / "none" / "p.hkt", tmp_path):
        refused(program("plan", "all-to-all", "--network", "star:4", "-o", path), "cannot write")
        refused(program("plan", "all-to-all", "--network", "star:4", "--dump", path), "cannot write")
    assert list(tmp_path.iterdir()) == []


def test_disk_full(program) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    refused(program("plan", "all-to-all", "--network", "star:4", "-o", "/dev/full"), "No space left")


def test_full_standard_output() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "hocket", "info", "tree"],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 2 and done.stderr.startswith("hocket: ") and "Traceback" not in done.stderr


def test_interrupted_writing_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "p"
    path.write_bytes(b"old")

    def chunks():
        yield b"new"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomically(str(path), chunks())
    assert path.read_bytes() == b"old" and [p.name for p in tmp_path.iterdir()] == ["p"]
    with pytest.raises(HocketError, match="cannot write"):
        write_atomically(str(tmp_path / "none" / "p"), [b""])


def test_broken_pipe_is_quiet() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "hocket", "network", "show", "star:2000", "--json"],
        stdout=writer, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")


# Planning 4,096 ranks takes many seconds.
PLANNING_IS_TOLD = """
import sys
from hocket import cli
from hocket.planning import plan as planning
plan = planning.plan_demand
planning.plan_demand = lambda *given, **more: (print("begun", flush=True), plan(*given, **more))[1]
sys.exit(cli.main(sys.argv[1:]))
"""


def test_ctrl_c(tmp_path: Path) -> None:
    command = ["plan", "all-to-all", "--network", "tree:4x16x64", "-o", tmp_path / "p.hkt"]
    process = subprocess.Popen(
        [sys.executable, "-c", PLANNING_IS_TOLD, *command],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # jobs in the background ignore it
    )  # fmt: skip
    assert process.stdout is not None and process.stdout.readline() == "begun\n"
    os.kill(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_a_command_that_lacks_something_breaks_no_other(hocket, monkeypatch: pytest.MonkeyPatch) -> None:
    from hocket import cli

    broken = {**cli.COMMANDS, "lab": cli.Entry("hocket.cli.no_such_module:lab", "the lab")}
    monkeypatch.setattr(cli, "COMMANDS", broken)
    refused(hocket("lab", "up", "x"), "no_such_module")
    assert hocket("info", "tree").code == 0
    assert "the lab" in hocket("--help").out


def test_links_that_lead_to_themselves(hocket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    Path("loop").symlink_to("loop2")
    Path("loop2").symlink_to("loop")
    numpy.save("keys.npy", numpy.arange(3))
    assert hocket("plan", "all-to-all", "--network", "star:4", "-o", "plan.hkt").code == 0
    before = sorted(Path().iterdir())
    for arguments in (
        ("plan", "all-to-all", "--network", "star:4", "-o", "loop"),
        ("plan", "all-to-all", "--network", "star:4", "--dump", "loop"),
        ("export", "plan.hkt", "--to", "c", "-o", "loop"),
        ("simulate", "--network", "star:4", "--plot", "heat=loop/a.svg"),
        ("export", "plan.hkt", "--to", "goal", "-o", "loop"),
        ("report", "plan.hkt", "-o", "loop"),
        ("network", "balance", "torus:3x3", "-o", "loop"),
        ("network", "convert", "star:4", "-o", "loop"),
        ("network", "show", "loop"),
        ("verify", "loop", "--network", "star:4"),
        ("run", "-n", "2", "--network", "star:4", "--plan", "loop", "true"),
        ("env", "--network", "star:4", "--plan", "loop"),
        ("env", "--network", "star:4", "--placement", "loop"),
        ("record", "-o", "loop", "mpiexec", "-n", "1", "true"),
        ("hocket-sort", "keys.npy", "loop"),
        ("hocket-sort", "keys.npy", "out.npy", "--payload", "keys.npy", "loop"),
        ("bench", "all-to-all", "-n", "2", "--csv", "loop"),
        ("calibrate", "memory", "-o", "loop"),
        ("plan", "all-to-all", "--network", "star:4", "-o", "loop/plan.hkt"),
    ):  # fmt: skip
        answer = hocket(*arguments)
        refused(answer)
        assert "loop" in answer.err, answer.err
    assert sorted(Path().iterdir()) == before and Path("loop").is_symlink() and Path("loop2").is_symlink()


def test_names_as_long_as_names_can_be(hocket, tmp_path: Path) -> None:
    longest = tmp_path / ("x" * 251 + ".hkt")
    assert hocket("plan", "all-to-all", "--network", "star:4", "-o", longest).code == 0
    assert list(tmp_path.iterdir()) == [longest]
    refused(hocket("plan", "all-to-all", "--network", "star:4", "-o", f"{longest}x"), "File name too long")


def test_names_that_are_not_utf8(program, tmp_path: Path) -> None:
    """They are read and written as they are, and shown as Python writes them."""
    network, page = tmp_path / os.fsdecode(b"\xff.toml"), tmp_path / os.fsdecode(b"\xfe.html")
    network.write_text('[[switch]]\nname = "s"\nhosts = ["a", "b", "c"]\n')
    done = program("report", network, "-o", page)
    assert done.code == 0 and "\\udcfe.html" in done.out, done
    assert "\\udcff.toml" in page.read_text("utf-8")


@pytest.mark.parametrize(
    "arguments",
    [
        ("plan", "all-to-all", "--network", "star:4", "-o", "p"),
        ("run", "-n", "2", "--network", "star:4", "/bin/true"),
    ],
)
def test_a_working_directory_that_is_gone(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    done = subprocess.run(
        ["sh", "-c", 'rmdir "$PWD" && exec "$@"', "sh", sys.executable, "-m", "hocket", *arguments],
        cwd=gone, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        "hocket: the working directory has been removed; change to one that exists"
    )


def test_a_fault_of_hocket_is_one_line(hocket, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    from hocket import cli

    def fault(*_: object, **__: object) -> None:
        raise KeyError("x")

    monkeypatch.setattr("hocket.cli._shared.options.load_network", fault)
    monkeypatch.setattr("hocket.cli.network.load_components", fault)
    assert cli.main(["network", "show", "star:4"]) == 2
    told = capsys.readouterr().err
    assert (
        told.startswith("hocket: a fault of Hocket: KeyError: 'x' (test_failures.py:")
        and told.count("\n") == 1
    )
    assert told.endswith("; please report it with what it says when PYTHONDEVMODE=1 is set\n")


@pytest.mark.parametrize(
    ("code", "says"), [(0, "no rank made a call"), (143, "ended with exit code 143 before")]
)
def test_a_full_disk_under_the_report_of_a_job(
    hocket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, says: str
) -> None:
    """The job's exit code counts; where it is 0, the lost report does."""
    launcher = tmp_path / "mpiexec"
    launcher.write_text(
        f"#!/bin/sh\necho HYDRA build details: Version: 4.2\n[ $1 = --version ] || exit {code}\n"
    )
    launcher.chmod(0o755)
    monkeypatch.setattr("hocket.launch.environment.scheduled_environment", lambda *_, **__: {})
    (tmp_path / "full.json").symlink_to("/dev/full")
    run = ["run", "--mpi", launcher, "--network", "star:3", "-n", 3]
    answer = hocket(*run, f"--report={tmp_path}/full.json", "true")
    assert answer.code == (code or 2) and says in answer.err
    assert f"no report: {tmp_path}/full.json: No space left on device; make room there" in answer.err
