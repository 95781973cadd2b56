"""The wheel in an environment of its own, with no compiler in sight: `make test-wheel`.

HOCKET_TEST_WHEEL names the wheel. Programs are compiled before, as users' programs were on a login node.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

import mpi_programs
from hocket.launch.mpi import Abi, Mpi, launch_command
from wheel_place import bare_environment, install_wheel

pytestmark = pytest.mark.skipif(
    "HOCKET_TEST_WHEEL" not in os.environ, reason="no wheel: make test-wheel builds one"
)

PROGRAM = Path(__file__).parents[1] / "runtime/programs/call_grid.c"
SORTS = Path(__file__).parents[1] / "sort/programs/sort_check.c"
KINDS = {"mpich": "libmpi.so.12", "openmpi": "libmpi.so.40", "standard": "libmpi_abi.so.1"}


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ``bin`` of the environment with the wheel."""
    return install_wheel(os.environ["HOCKET_TEST_WHEEL"], tmp_path_factory.mktemp("installed") / "venv")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return bare_environment(tmp_path)


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def mpi(kind: str) -> Mpi:
    found = mpi_programs.installation("openmpi" if kind == "openmpi" else "mpich")
    return replace(found, abi=Abi.STANDARD) if kind == "standard" else found


Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(installed: Path, environment: Mapping[str, str]) -> Run:
    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(installed / "python"), "-m", "hocket", *arguments]
        return subprocess.run(
            command, capture_output=True, text=True, timeout=240, env=environment, check=False
        )

    return call


def native(installed: Path, kind: str) -> Path:
    (found,) = installed.parent.glob(f"lib/python*/site-packages/hocket/native/ready/{kind}")
    return found


def test_a_program_is_scheduled_at_once(mpi: Mpi, kind: str, run: Run, tmp_path: Path) -> None:
    """Every byte is right, and nothing has been compiled."""
    program = tmp_path / "call_grid"
    subprocess.run([mpi.mpicc, "-pthread", str(PROGRAM), "-o", str(program)], check=True, timeout=120)
    where = [
        "--mpi",
        mpi.mpiexec,
        "--network",
        "chain:2,2",
        "-n",
        "4",
        "--placement",
        "order",
        "-v",
        "--choose",
        "off",
    ]
    done = run("run", *where, "--", str(program), "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok " in done.stdout and " 0 wrong" in done.stdout, done.stdout + done.stderr
    assert "hocket: all-to-all of 4 ranks on 4 hosts" in done.stderr
    assert "building" not in done.stderr
    assert not list((tmp_path / "cache/hocket").glob("runtime-*"))


def test_a_prepared_shell_schedules_with_a_plain_launcher(
    mpi: Mpi, kind: str, installed: Path, environment: Mapping[str, str], tmp_path: Path
) -> None:
    """Act as a cluster user who has installed the wheel: once with the variables, once without."""
    program = tmp_path / "call_grid"
    subprocess.run([mpi.mpicc, "-pthread", str(PROGRAM), "-o", str(program)], check=True, timeout=120)
    start = shlex.join(launch_command(mpi, 4, [], {}, [str(program)]))
    where = f"--mpi {mpi.mpiexec} --program {program} --network chain:2,2 --placement order -v --choose off"
    lines = [f'eval "$(hocket env {where})"', start, 'eval "$(hocket env --unset)"; echo unset >&2', start]
    path = os.pathsep.join([str(installed), environment["PATH"]])
    done = subprocess.run(
        ["sh", "-e", "-c", "\n".join(lines)],
        env={**environment, "PATH": path}, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" 0 wrong") == 2, done.stdout + done.stderr
    prepared, _, after = done.stderr.partition("unset\n")
    assert "hocket: all-to-all of 4 ranks on 4 hosts" in prepared and "building" not in prepared, prepared
    assert "hocket" not in after, after


@pytest.mark.parametrize("kind", ["mpich", "openmpi"])
def test_a_program_is_recorded_at_once(mpi: Mpi, kind: str, run: Run, tmp_path: Path) -> None:
    program = tmp_path / "traffic"
    subprocess.run(
        [mpi.mpicc, str(PROGRAM.with_name("traffic.c")), "-o", str(program)], check=True, timeout=120
    )
    done = run(
        "record", "-o", str(tmp_path / "t.json"), "--", *launch_command(mpi, 4, [], {}, [str(program)])
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "MPI_Neighbor_alltoallv_init" in done.stderr and "building" not in done.stderr
    assert len(json.loads((tmp_path / "t.json").read_text())["calls"]) == 11


def test_what_programs_link_with_is_the_installation(
    mpi: Mpi, kind: str, run: Run, installed: Path, tmp_path: Path
) -> None:
    """No run path into a cache, which goes."""
    abi = ["--abi", "standard"] if kind == "standard" else []
    flags = shlex.split(run("info", "--libs", "--mpi", mpi.mpiexec, *abi).stdout)
    home = native(installed, kind)
    assert flags == [f"-L{home}", "-lhocket_runtime", f"-Wl,-rpath,{home}"]
    sorts = shlex.split(run("info", "--libs", "--sort", "--mpi", mpi.mpiexec, *abi).stdout)
    assert sorts == [f"-L{home}", "-lhocket_sort", f"-Wl,-rpath,{home}", *flags]


def test_a_program_sorts_at_once(mpi: Mpi, kind: str, run: Run, tmp_path: Path) -> None:
    """With a library that loads its runtime from where it lies itself."""
    abi = ["--abi", "standard"] if kind == "standard" else []
    flags = run("info", "--sort", "--mpi", mpi.mpiexec, *abi)
    assert "building" not in flags.stderr
    program = tmp_path / "sort_check"
    command = [mpi.mpicc, str(SORTS), *shlex.split(flags.stdout), "-o", str(program)]
    subprocess.run(command, check=True, timeout=120)
    done = subprocess.run(
        launch_command(mpi, 4, [], {}, [str(program)]),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert "ok 0 wrong" in done.stdout, done.stdout + done.stderr


def test_the_library_needs_the_mpi_by_name(kind: str, installed: Path) -> None:
    """From wherever the program has loaded it: no run path leads to the MPI of the machine that built it."""
    home = native(installed, kind)
    for library, needed in (("runtime", {KINDS[kind]}), ("sort", {KINDS[kind]}), ("shim", set())):
        read = ["readelf", "-d", str(home / f"libhocket_{library}.so")]
        told = subprocess.run(read, capture_output=True, text=True, check=True, timeout=60).stdout
        paths = re.findall(r"R(?:UN)?PATH.*\[(.*)\]", told)
        assert paths == (["$ORIGIN"] if library == "sort" else [])
        names = set(re.findall(r"NEEDED.*\[(.*)\]", told))
        assert {name for name in names if name.startswith("libmpi")} == needed
        ours = {name for name in names if name.startswith("libhocket")}
        assert ours == ({"libhocket_runtime.so"} if library == "sort" else set())
        assert not any(name.startswith("libstdc++") for name in names)


def test_an_mpi_that_none_serves_needs_a_compiler(run: Run, tmp_path: Path) -> None:
    """And that is said."""
    (tmp_path / "mpi/bin").mkdir(parents=True)
    launcher = tmp_path / "mpi/bin/mpiexec"
    launcher.write_text("#!/bin/sh\necho 'mpirun (Open MPI) 4.1.4'\n")
    launcher.chmod(0o755)
    (launcher.parent / "mpicc").symlink_to(launcher)
    done = run("info", "--libs", "--mpi", str(launcher))
    assert done.returncode == 2 and "no C++ compiler" in done.stderr and "; install g++" in done.stderr


def test_templates_come_with_it(installed: Path) -> None:
    (package,) = installed.parent.glob("lib/python*/site-packages/hocket")
    for folder in ("export", "report"):
        ours = Path(__file__).parents[2] / "python/hocket" / folder / "templates"
        names = {path.name for path in ours.iterdir()}
        assert names and names == {path.name for path in (package / folder / "templates").iterdir()}
