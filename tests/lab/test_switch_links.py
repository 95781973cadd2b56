"""Uplinks of unknown width are measured by the ranks, over wires of known width."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from builds import compile_once
from hocket.errors import HocketError
from hocket.lab import Lab
from hocket.launch.environment import RuntimeOptions, scheduled_environment
from hocket.launch.mpi import Mpi
from hocket.network import KnownNetwork, read_known_network
from hocket.network.description import NetworkDescription
from hocket.network.parts import Link, Node
from mpi_programs import compile_with_hocket, installation
from reported_calls import Said, all_scheduled

pytestmark = [
    pytest.mark.by_turns,
    pytest.mark.lab,
    pytest.mark.skipif(
        os.geteuid() != 0 or shutil.which("nsenter") is None,
        reason="the lab needs root and nsenter (util-linux)",
    ),
]
HOST_RATE = 50e6 / 8  # bytes/s
HOSTS = 4  # of a switch
SWITCHES = ("s0", "s1", "top")
PROGRAM = Path(__file__).parents[1] / "runtime" / "programs" / "subsets.c"


def wires(width: float) -> NetworkDescription:
    """Two switches below one, whose links are ``width`` times as fast as a host's."""
    network = NetworkDescription()
    network.nodes += [Node(name) for name in SWITCHES]
    for number in range(2 * HOSTS):
        network.nodes.append(Node(f"h{number}", 1))
        network.links.append(Link(f"s{number // HOSTS}", f"h{number}", HOST_RATE))
    network.links += [Link("top", switch, width * HOST_RATE) for switch in SWITCHES[:2]]
    return network


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    """Slurm's file of the cluster, which has no link widths."""
    path = tmp_path / "topology.conf"
    path.write_text(
        "SwitchName=s0 Nodes=h[0-3]\nSwitchName=s1 Nodes=h[4-7]\nSwitchName=top Switches=s[0-1]\n"
    )
    return path


@pytest.fixture(params=["mpich", "openmpi"])
def mpi(request: pytest.FixtureRequest) -> Mpi:
    try:
        return installation(request.param)
    except HocketError as error:
        pytest.skip(str(error))


@pytest.fixture
def program(mpi: Mpi) -> Path:
    return compile_once([mpi.mpicc, "-O1", str(PROGRAM)], "subsets")


@pytest.fixture(autouse=True)
def nothing_kept(cluster: Path) -> Iterator[None]:
    from hocket.network import read_network_description
    from hocket.network.measured import kept_path

    path = kept_path(read_network_description(str(cluster)))
    path.unlink(missing_ok=True)
    yield
    path.unlink(missing_ok=True)


def run(lab: Lab, mpi: Mpi, program: Path, known: KnownNetwork, ranks: int | None = None) -> Said:
    with tempfile.TemporaryDirectory() as told:
        options = RuntimeOptions(min_bytes=1, log=1, report=Path(told))
        env = scheduled_environment(mpi.mpicc, known, options)
        result = lab.run([str(program), "3000"], mpi=mpi, env=env, ranks=ranks, timeout=120, capture=True)
        assert result.exit_code == 0 and " 0 wrong" in result.output, result.output
        return Said(result.output, Path(told))


def measured_widths(width: int, cluster: Path, mpi: Mpi, program: Path) -> list[float]:
    """Widths measured by one job, and taken from the cache by a second one."""
    from hocket.network.measured import kept_path

    known = read_known_network(str(cluster))
    assert known.uplinks.assumed
    with Lab.up(wires(width)) as lab:
        said = run(lab, mpi, program, known)
        assert len(re.findall(r"hocket: measured \d uplinks? in", said)) >= 1, said
        all_scheduled(said, "MPI_Alltoall", ranks=8)
        settled = read_known_network(str(cluster))
        assert settled.uplinks.provenance == "measured" and not settled.uplinks.warning, settled.uplinks
        again = run(lab, mpi, program, settled)
        assert "measured" not in again, again
        all_scheduled(again, "MPI_Alltoall", ranks=8)
    path = kept_path(known.description)
    kept = json.loads(path.read_text())
    path.unlink()
    return [switch_link["width"] for switch_link in kept["switch_links"]]


@pytest.mark.parametrize("width", [1, pytest.param(2, marks=pytest.mark.slow), 4])
def test_widths_are_measured_and_kept(width: int, cluster: Path, mpi: Mpi, program: Path) -> None:
    """Other load of the machine may spoil a measurement, but hardly three."""
    seen = []
    for _ in range(3):
        widths = measured_widths(width, cluster, mpi, program)
        seen.append(widths)
        if len(widths) == 2 and all(0.5 * width < found < 1.5 * width for found in widths):
            return
    pytest.fail(f"{width}: {seen}")


def test_nothing_is_measured_below_one_switch(cluster: Path, mpi: Mpi, program: Path) -> None:
    known = read_known_network(str(cluster))
    with Lab.up(wires(1)) as lab:
        said = run(lab, mpi, program, known, ranks=HOSTS)
    assert "measured" not in said, said
    all_scheduled(said, "MPI_Alltoall", ranks=4)
    assert read_known_network(str(cluster)).uplinks.assumed


def test_one_host_beyond_a_switch_link_is_not_enough_to_measure_it(
    cluster: Path, mpi: Mpi, program: Path
) -> None:
    """No schedule rests on the width: the link carries no more than that host's."""
    known = read_known_network(str(cluster))
    with Lab.up(wires(1)) as lab:
        said = run(lab, mpi, program, known, ranks=HOSTS + 1)
    assert "measured" not in said, said
    all_scheduled(said, "MPI_Alltoall", ranks=5)


def test_widths_that_a_job_has_not_seen_are_kept(cluster: Path, mpi: Mpi, program: Path) -> None:
    from hocket.network import read_network_description
    from hocket.network.measured import kept_path

    cluster.write_text(cluster.read_text().replace("s[0-1]", "s[0-2]") + "SwitchName=s2 Nodes=x[0-3]\n")
    path = kept_path(read_network_description(str(cluster)))
    rows = [
        {"a": "top", "b": "s2", "pairs": 4, "rate": 25, "width": 2.5},
        {"a": "top", "b": "s0", "pairs": 0},
    ]
    text = ",\n  ".join(map(json.dumps, rows))
    path.write_text(f'{{"version": 1, "switch_links": [\n  {text}]}}\n')
    path.chmod(0o600)
    known = read_known_network(str(cluster))
    try:
        with Lab.up(wires(2)) as lab:
            said = run(lab, mpi, program, known)
        assert "measured" in said, said
        kept = {switch_link["b"]: switch_link for switch_link in json.loads(path.read_text())["switch_links"]}
        assert set(kept) == {"s0", "s1", "s2"} and kept["s2"] == rows[0]
        assert read_known_network(str(cluster)).uplinks.provenance == "measured"
    finally:
        path.unlink(missing_ok=True)


def test_exchanges_of_the_interface_are_planned_by_measured_widths(
    cluster: Path, mpi: Mpi, tmp_path: Path
) -> None:
    source = PROGRAM.with_name("exchange_check.c")
    program = compile_with_hocket(mpi, source)
    known = read_known_network(str(cluster))
    env = scheduled_environment(mpi.mpicc, known, RuntimeOptions(log=1))
    with Lab.up(wires(2)) as lab:
        result = lab.run([str(program), "run"], mpi=mpi, env=env, timeout=120, capture=True)
    assert result.exit_code == 0 and " 0 wrong" in result.output, result.output
    assert len(re.findall(r"hocket: measured 2 uplinks in", result.output)) == 1, result.output
    assert read_known_network(str(cluster)).uplinks.provenance == "measured"
