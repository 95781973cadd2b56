"""Properties of an MPI by its compiler wrappers and launchers; parts that are built again when these
change."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from hocket.errors import MissingToolError
from hocket.launch.mpi import (
    GIVE_WAY,
    JOB_VARIABLES,
    Abi,
    Mpi,
    MpiFamily,
    find_mpi,
    launch_command,
    mpi_of,
    slots,
)
from hocket.launch.runtime.compiling import find_compiler, read_wrapper


def script(path: Path, text: str) -> str:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def fake_mpicc(folder: Path, macros: Mapping[str, str], show: str = "cc -lmpi", header: str = "mpi.h") -> str:
    defined = "".join(f"#define {name} {value}\\n" for name, value in macros.items())
    return script(
        folder / "mpicc",
        f"case \"$*\" in *-show*) echo '{show}';; *-dD*) printf '# 1 \"/x/{header}\"\\n{defined}';; esac",
    )


OPEN_MPI = {"OMPI_MAJOR_VERSION": "4", "OMPI_MINOR_VERSION": "1", "OMPI_RELEASE_VERSION": "4"}


@pytest.mark.parametrize(
    ("macros", "mpi", "version"),
    [
        ({"MPICH_VERSION": '"4.0.2"'}, "MPICH Version: 4.", "MPICH 4.0.2"),
        (OPEN_MPI, "Open MPI v4.", "Open MPI 4.1.4"),
        ({"MPI_ABI_VERSION": "1", "MPI_ABI_SUBVERSION": "0"}, "MPI ABI 1.", "the standard ABI 1.0 of MPI"),
        (
            {"I_MPI_VERSION": '"2021.10.0"', "MPICH_VERSION": '"3.4"'},
            "Intel(R) MPI Library 2021",
            "Intel MPI 2021.10.0",
        ),
        (
            {"MVAPICH_VERSION": '"3.0"', "MPICH_VERSION": '"3.4.3"'},
            "MVAPICH Version: 3.",
            "MVAPICH 3.0",
        ),
    ],
)
def test_families(tmp_path: Path, macros: dict[str, str], mpi: str, version: str) -> None:
    wrapper = read_wrapper(fake_mpicc(tmp_path, macros))
    assert (wrapper.mpi, wrapper.version) == (mpi, version)


def test_every_change_of_the_mpi_is_another_build(tmp_path: Path) -> None:
    """Path and major version stay the same."""
    first = {"MPICH_VERSION": '"5.0.1"'}
    identities = [
        read_wrapper(fake_mpicc(tmp_path, macros, **more)).identity
        for macros, more in [
            (first, {}),
            ({"MPICH_VERSION": '"5.0.2"'}, {}),
            ({**first, "__VERSION__": '"13.1"'}, {}),  # another compiler
            (first, {"show": "cc -L/other -lmpi"}),
            (first, {"header": "other/mpi.h"}),
        ]
    ]
    assert len(set(identities)) == len(identities)
    assert read_wrapper(fake_mpicc(tmp_path, first)).identity == identities[0]


def test_no_mpicc() -> None:
    with pytest.raises(MissingToolError, match=r"no MPI compiler wrapper.*pip install mpich"):
        read_wrapper("/nonexistent/mpicc")


def test_a_wrapper_of_no_mpi(tmp_path: Path) -> None:
    fake = script(tmp_path / "mpicc", "echo 'mpicc: no licence' >&2; exit 1")
    with pytest.raises(MissingToolError, match=r"no MPI that Hocket knows.*it said: mpicc: no licence"):
        read_wrapper(fake)


def test_no_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake = fake_mpicc(tmp_path, {"MPICH_VERSION": '"5.0"'})
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(MissingToolError, match=r"no C\+\+ compiler; install g\+\+"):
        read_wrapper(fake)


@pytest.mark.parametrize(
    ("says", "family", "major", "prrte"),
    [
        ("HYDRA build details:\n    Version:   4.0.2", MpiFamily.MPICH, 4, False),
        ("mpiexec.openmpi (OpenRTE) 4.1.4", MpiFamily.OPENMPI, 4, False),
        ("mpirun (Open MPI) 5.0.8", MpiFamily.OPENMPI, 5, True),
        ("Intel(R) MPI Library for Linux* OS, Version 2021.10 Build 1", MpiFamily.MPICH, 2021, False),
    ],
)
def test_launchers(tmp_path: Path, says: str, family: MpiFamily, major: int, prrte: bool) -> None:
    found = mpi_of(script(tmp_path / "mpiexec", f"cat <<'END'\n{says}\nEND"))
    assert found is not None
    assert (found.family, found.major, found.prrte) == (family, major, prrte)


def test_a_launcher_by_a_relative_path_starts_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(tmp_path / "mpiexec", "echo 'mpirun (Open MPI) 5.0.8'")
    monkeypatch.chdir(tmp_path)
    assert find_mpi("./mpiexec").mpiexec == str(tmp_path / "mpiexec")


def test_wrappers_beside_launchers(tmp_path: Path) -> None:
    """Debian's are called mpicc.mpich and mpicc.openmpi, beside a mpicc of whichever."""
    launcher = str(tmp_path / "mpiexec.hydra")
    assert Mpi(MpiFamily.MPICH, launcher).mpicc == str(tmp_path / "mpicc")
    for family in MpiFamily:
        script(tmp_path / f"mpicc.{family.value}", "")
        assert Mpi(family, launcher).mpicc == str(tmp_path / f"mpicc.{family.value}")
    assert Mpi(MpiFamily.MPICH, launcher, abi=Abi.STANDARD).mpicc == str(tmp_path / "mpicc_abi")


def test_options_of_old_launchers_of_open_mpi() -> None:
    new = Mpi(MpiFamily.OPENMPI, "mpirun", 5)
    arguments = (2, [("a", 2)], {"K": "v"}, ["prog"], "agent", "e0")
    old_text = " ".join(launch_command(replace(new, major=4), *arguments))
    new_text = " ".join(launch_command(new, *arguments))
    assert "--mca plm_rsh_agent agent" in old_text and "oob_tcp_if_include e0" in old_text
    assert "prte" not in old_text and "vader" in old_text
    assert "--prtemca plm_ssh_agent agent" in new_text and "prte_if_include e0" in new_text


@pytest.mark.parametrize(
    ("ranks", "job", "crowded"),
    [
        (8, {}, False),
        (9, {}, True),
        (9, {"PBS_JOBID": "1"}, False),  # its launcher knows the slots
        (9, {"SLURM_JOB_ID": "1", "SLURM_NTASKS": "9"}, False),
        (9, {"SLURM_JOB_ID": "1", "SLURM_NTASKS": "8"}, True),
        (9, {"JOB_ID": "1", "NSLOTS": "9"}, False),
        (9, {"JOB_ID": "1"}, True),  # not of a batch system that says so
    ],
)
def test_ranks_are_bound_or_give_way_by_whether_there_are_cores_for_them(
    monkeypatch: pytest.MonkeyPatch, ranks: int, job: dict[str, str], crowded: bool
) -> None:
    for name in (*JOB_VARIABLES, "SLURM_NTASKS", "NSLOTS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in job.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(16)))
    monkeypatch.setattr("psutil.cpu_count", lambda logical=True: 64 if logical else 32)
    command = launch_command(Mpi(MpiFamily.OPENMPI, "mpirun", 5), ranks, (), {}, ["prog"])
    assert ("--oversubscribe" in command) == ("--bind-to" in command) == crowded
    assert ("mpi_yield_when_idle" in command) == crowded
    for name in GIVE_WAY:
        monkeypatch.delenv(name)
    command = launch_command(Mpi(MpiFamily.MPICH, "mpiexec"), ranks, (), {}, ["prog"])
    assert ("MPIR_CVAR_ALLREDUCE_POSIX_INTRA_ALGORITHM" in command) == crowded
    for name in GIVE_WAY:
        monkeypatch.setenv(name, "auto")  # the user's word
    assert "-genv" not in launch_command(Mpi(MpiFamily.MPICH, "mpiexec"), ranks, (), {}, ["prog"])


def test_ranks_are_bound_as_without_hocket(mpi: Mpi, tmp_path: Path) -> None:
    """They tell it in files: of short programs MPICH's mpiexec loses the output now and then."""
    if slots() < 2:
        pytest.skip("Open MPI's launcher would refuse")
    tell = (
        "import os, sys; open(f'{sys.argv[1]}/{os.getpid()}', 'w').write(str(len(os.sched_getaffinity(0))))"
    )
    as_root = ["--allow-run-as-root"] if mpi.family is MpiFamily.OPENMPI else []
    bare = [mpi.mpiexec, *as_root, "-n", "2"]
    ours = [sys.executable, "-m", "hocket", "run", "--mpi", mpi.mpiexec, "--network", "star:4", "-n", "2"]
    told = []
    for name, start in {"bare": bare, "ours": [*ours, "--placement", "order", "--"]}.items():
        (folder := tmp_path / name).mkdir()
        subprocess.run([*start, sys.executable, "-c", tell, str(folder)], check=True, timeout=120)
        told.append([file.read_text() for file in folder.iterdir()])
    assert told[0] == told[1] and len(told[1]) == 2


@pytest.mark.parametrize("name", ["mpich", "openmpi"])
def test_debians_launchers_know_their_wrappers(name: str) -> None:
    launcher = Path(f"/usr/bin/mpiexec.{name}")
    if not launcher.exists():
        pytest.skip(f"no {launcher}")
    found = find_mpi(str(launcher))
    assert found.family.value == name
    begins = {"mpich": "MPICH Version:", "openmpi": "Open MPI v"}[name]
    assert read_wrapper(found.mpicc).mpi.startswith(begins)


def test_a_compiler_that_is_named_and_absent_is_no_other_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "nope")
    with pytest.raises(MissingToolError, match=r"no compiler 'nope' \(CXX\)"):
        find_compiler()
