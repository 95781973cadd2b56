"""``hocket run``: unmodified programs, every byte checked, under both MPI families."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hocket.mpi import Mpi

Compiled = Callable[[str], Path]


def hocket_run(
    mpi: Mpi, *arguments: str, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """``hocket run`` with the given arguments, output captured."""
    return subprocess.run(
        [sys.executable, "-m", "hocket.cli", "run", "--mpi", mpi.mpiexec, *arguments],
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, **(env or {})},
        check=False,
    )


@pytest.mark.parametrize(
    ("network", "ranks"),
    [("chain:4,4", 8), ("star:5", 5), ("tree:(1,(2,2),3)", 8), ("star:4*2", 8), ("chain:3,2,1", 6)],
)
def test_every_byte_arrives(mpi: Mpi, compiled: Compiled, network: str, ranks: int) -> None:
    done = hocket_run(
        mpi,
        "--network",
        network,
        "-n",
        str(ranks),
        "--placement",
        "order",
        "-v",
        "--",
        str(compiled("alltoall_check")),
        "1",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok " in done.stdout and " 0 wrong" in done.stdout
    assert f"hocket: all-to-all of {ranks} ranks" in done.stderr  # it was scheduled, not passed on


@pytest.mark.parametrize("flow", ["window:2", "barrier", "free"])
def test_every_flow_control(mpi: Mpi, compiled: Compiled, flow: str) -> None:
    done = hocket_run(
        mpi,
        "--network",
        "chain:3,3",
        "-n",
        "6",
        "--placement",
        "order",
        "--flow",
        flow,
        "-v",
        "--",
        str(compiled("alltoall_check")),
        "1",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 wrong" in done.stdout
    assert "hocket: all-to-all of 6 ranks" in done.stderr


def test_segments_smaller_than_a_message_and_odd(mpi: Mpi, compiled: Compiled) -> None:
    done = hocket_run(
        mpi,
        "--network",
        "chain:2,2,2",
        "-n",
        "6",
        "--placement",
        "order",
        "-v",
        "--",
        str(compiled("alltoall_check")),
        "1",
        env={"HOCKET_SEGMENT": "1031", "HOCKET_MIN_BYTES": "1", "HOCKET_EARLY": "2000"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 wrong" in done.stdout


def test_fewer_ranks_than_the_network_has(mpi: Mpi, compiled: Compiled) -> None:
    done = hocket_run(
        mpi,
        "--network",
        "chain:4,4",
        "-n",
        "5",
        "--placement",
        "order",
        "-v",
        "--",
        str(compiled("alltoall_check")),
        "1",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 wrong" in done.stdout and "all-to-all of 5 ranks" in done.stderr


def test_placement_file_in_any_order(mpi: Mpi, compiled: Compiled, tmp_path: Path) -> None:
    network = tmp_path / "net.conf"
    network.write_text(
        "SwitchName=s1 Nodes=a[0-2]\nSwitchName=s2 Nodes=b[0-2]\nSwitchName=top Switches=s[1-2]\n"
    )
    placement = tmp_path / "hosts"
    placement.write_text("# world rank i runs on line i\nb2\na0\nb0\na2\nb1\na1\n")
    done = hocket_run(
        mpi,
        "--network",
        str(network),
        "-n",
        "6",
        "--placement",
        str(placement),
        "-v",
        "--",
        str(compiled("alltoall_check")),
        "1",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 wrong" in done.stdout and "all-to-all of 6 ranks on 6 hosts: 9 phases" in done.stderr


@pytest.mark.parametrize(
    ("environment", "complaint"),
    [
        ({}, "is not in the network file"),
        ({"HOCKET_PLACEMENT": "/nonexistent/hosts"}, "cannot read the placement file"),
        ({"HOCKET_PLAN": "/nonexistent/plan.hkt"}, "cannot read the plan"),
    ],
)
def test_what_cannot_be_served_goes_to_the_mpi_library_with_one_warning(
    mpi: Mpi, compiled: Compiled, tmp_path: Path, environment: dict[str, str], complaint: str
) -> None:
    # The launcher sets these variables; a wrapper changes them in the ranks.
    exports = "".join(f"export {name}={value}\n" for name, value in environment.items())
    wrapper = tmp_path / "wrapper.sh"
    wrapper.write_text(f'#!/bin/sh\n{exports}exec "$@"\n')
    wrapper.chmod(0o755)
    done = hocket_run(
        mpi, "--network", "chain:2,2", "-n", "4", "--", str(wrapper), str(compiled("alltoall_check")), "1"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 wrong" in done.stdout
    assert done.stderr.count("hocket:") - done.stderr.count("hocket: building") == 1, done.stderr
    assert complaint in done.stderr


def test_a_damaged_plan_is_refused_by_the_ranks(mpi: Mpi, compiled: Compiled, tmp_path: Path) -> None:
    plan = tmp_path / "plan.hkt"
    made = subprocess.run(
        [
            sys.executable,
            "-m",
            "hocket.cli",
            "plan",
            "all-to-all",
            "--network",
            "chain:2,2",
            "--bytes",
            "64KiB",
            "-o",
            str(plan),
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    data = bytearray(plan.read_bytes())
    data[-3] ^= 4  # in the row of the last rank
    broken = tmp_path / "broken.hkt"
    broken.write_bytes(data)
    refused = hocket_run(
        mpi,
        "--network",
        "chain:2,2",
        "-n",
        "4",
        "--placement",
        "order",
        "--plan",
        str(broken),
        "--",
        str(compiled("alltoall_check")),
        "1",
    )
    assert refused.returncode == 2
    assert "broken.hkt" in refused.stderr and "Traceback" not in refused.stderr
    wrapper = tmp_path / "wrapper.sh"
    wrapper.write_text(f'#!/bin/sh\nexport HOCKET_PLAN={broken}\nexec "$@"\n')
    wrapper.chmod(0o755)
    done = hocket_run(
        mpi,
        "--network",
        "chain:2,2",
        "-n",
        "4",
        "--placement",
        "order",
        "--",
        str(wrapper),
        str(compiled("alltoall_check")),
        "1",
    )
    assert done.returncode == 0 and " 0 wrong" in done.stdout
    assert done.stderr.count("damaged") == 1, done.stderr


def test_wrong_settings_are_reported_once(mpi: Mpi, compiled: Compiled) -> None:
    done = hocket_run(
        mpi,
        "--network",
        "chain:2,2",
        "-n",
        "4",
        "--placement",
        "order",
        "--",
        str(compiled("alltoall_check")),
        "1",
        env={"HOCKET_SLEEP_US": "soon"},
    )
    assert done.returncode == 0 and " 0 wrong" in done.stdout
    assert done.stderr.count("HOCKET_SLEEP_US='soon'") == 1


def test_a_process_with_another_mpi_is_left_alone(mpi: Mpi, compiled: Compiled) -> None:
    other = "Open MPI v1." if mpi.family.value == "mpich" else "MPICH Version: 1."
    done = hocket_run(
        mpi,
        "--network",
        "chain:2,2",
        "-n",
        "4",
        "--placement",
        "order",
        "--",
        "env",
        f"HOCKET_RUNTIME_MPI={other}",
        str(compiled("alltoall_check")),
        "1",
    )
    assert done.returncode == 0 and " 0 wrong" in done.stdout
    assert done.stderr.count("another MPI") == 1, done.stderr


def test_the_exit_code_of_the_program_comes_back(mpi: Mpi) -> None:
    done = hocket_run(mpi, "--network", "star:3", "-n", "1", "--", "sh", "-c", "exit 3")
    assert done.returncode == 3
