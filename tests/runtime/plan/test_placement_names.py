"""Which rank is where: processor names and Slurm's names, and what ranks without a place get."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from hocket.doctor.case import Case, Level, Rank
from hocket.doctor.ranks import check_placement
from hocket.launch.mpi import Mpi
from hocket.network import read_network
from mpi_programs import compile_with_hocket
from reported_calls import Said, all_scheduled, none_scheduled

pytestmark = pytest.mark.by_turns

PROGRAMS = Path(__file__).parents[1] / "programs"
Check = Callable[..., Said]

SUBSETS = "subsets 300"
LOW = {"HOCKET_MIN_BYTES": "1"}
RANK = "${PMI_RANK:-$PMIX_RANK}"


def warnings(said: str) -> list[str]:
    return [line for line in said.splitlines() if line.startswith("hocket:") and " of " not in line[:30]]


def by_rank(values: list[str]) -> str:
    """Shell expression that each rank's wrapper expands to the rank's own value."""
    return f"$(echo {' '.join(values)} | cut -d' ' -f$(({RANK} + 1)))"


def doctors_verdict(network: str, names: list[str]) -> set[Level]:
    """Levels of the findings of 'hocket doctor' for ranks on hosts of these names."""
    case = Case(
        {},
        network=read_network(network),
        ranks_told=[Rank(i, True, name, "") for i, name in enumerate(names)],
    )
    return {finding.level for finding in check_placement(case)}


@pytest.fixture
def network(tmp_path: Path) -> Callable[[str], str]:
    def write(hosts: str) -> str:
        path = tmp_path / "net.conf"
        half = hosts.split(";")
        lines = [f"SwitchName=s{i} Nodes={nodes}\n" for i, nodes in enumerate(half)]
        path.write_text("".join(lines) + f"SwitchName=top Switches=s[0-{len(half) - 1}]\n")
        return str(path)

    return write


Launched = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def placed(check: Check, names_library: Path) -> Check:
    """Runs on hosts of these names."""

    def run(
        network: str, names: list[str], exports: Mapping[str, str] | None = None, placement: str = "names"
    ) -> Said:
        return check(
            SUBSETS,
            network,
            len(names),
            "--oversubscription=1",  # one machine: nothing could be measured
            placement=placement,
            exports={
                "LD_PRELOAD": f"$LD_PRELOAD:{names_library}",
                "HOCKET_TEST_NAME": by_rank(names),
                **LOW,
                **(exports or {}),
            },
        )

    return run


Placed = Callable[..., Said]


@pytest.mark.parametrize(
    ("hosts", "names"),
    [
        ("a[0-1];b[0-1]", ["a0", "a1", "b0", "b1"]),
        ("a[0-1];b[0-1]", ["b1.site.org", "a0.site.org", "a1", "b0"]),
        ("a0.site.org,a1.site.org;b0.site.org", ["b0", "a1", "a0"]),
        ("a[0-1];b[0-1]", ["a0", "b0", "a0", "b0", "a1"]),  # more than the file says
        ("n.east,n.west;b0", ["n.west", "n.east", "b0"]),  # whole names tell apart what short ones do not
    ],
)
def test_names_are_found(placed: Placed, network: Callable[[str], str], hosts: str, names: list[str]) -> None:
    assert doctors_verdict(network(hosts), names) == {Level.OK}
    said = placed(network(hosts), names)
    assert f"all-to-all of {len(names)} ranks on {len(set(names))} hosts" in said, said
    all_scheduled(said, "MPI_Alltoall")
    assert "MPI library serves" not in said


def test_part_of_a_host_and_other_orders(placed: Placed, network: Callable[[str], str]) -> None:
    said = placed(network("a[0-1];b[0-1]"), ["a0", "a0", "b0", "b0", "a1", "b1"])
    assert "all-to-all of 6 ranks on 4 hosts" in said
    assert "all-to-all of 3 ranks on 3 hosts" in said  # every second rank: one of each host
    assert "all-to-all of 5 ranks on 4 hosts" in said
    assert "all-to-all of 3 ranks on 2 hosts" in said  # neighbours: all of a0 and half of b0
    all_scheduled(said, "MPI_Alltoall")


@pytest.mark.parametrize(
    ("hosts", "names", "warning"),
    [
        ("n.east,n.west;b[0-1]", ["n", "b0", "b1"], "'n' may be 'n.east' or 'n.west' of the network file"),
        ("n;b[0-1]", ["n.east", "n.west", "b0"], "several machines are called host 'n'"),
        ("10.0.0.1;b[0-1]", ["10.0.0.2", "b0", "b1"], "host '10.0.0.2' is not in the network file"),
    ],
)
def test_what_is_not_certain_is_no_guess(
    placed: Placed, network: Callable[[str], str], hosts: str, names: list[str], warning: str
) -> None:
    assert doctors_verdict(network(hosts), names) == {Level.PROBLEM}
    said = placed(network(hosts), names)
    assert said.count(warning) == 1, said
    assert said.scheduled() == 0


def test_strangers_keep_their_communicators_only(placed: Placed, network: Callable[[str], str]) -> None:
    """Named once, in one line; communicators without them are scheduled."""
    said = placed(network("a[0-2];b[0-2]"), ["x.site", "y", "a0", "a1", "b0", "b1"])
    assert said.count("hosts 'x.site' and 'y' are not in the network file; add them, or place ranks") == 1, (
        said
    )
    assert said.scheduled("MPI_Alltoall", ranks=3) > 0  # the second half
    none_scheduled(said, "MPI_Alltoall", ranks=6)
    none_scheduled(said, "MPI_Alltoall", ranks=5)


def test_slurm_names_where_processor_names_say_nothing(placed: Placed, network: Callable[[str], str]) -> None:
    given = {"SLURMD_NODENAME": by_rank(["a0", "a1", "b0", "b1"])}
    strange = ["w", "x", "y", "z"]
    all_scheduled(placed(network("a[0-1];b[0-1]"), strange, given), "MPI_Alltoall", ranks=4)
    # Processor names come first, unless Slurm's are asked for.
    swapped = ["a0", "a0", "a0", "a0"]
    none_scheduled(placed(network("a[0-1];b[0-1]"), swapped, given), "MPI_Alltoall", ranks=4)
    said = placed(network("a[0-1];b[0-1]"), strange, given, placement="slurm")
    all_scheduled(said, "MPI_Alltoall", ranks=4)


def test_slurm_names_that_a_launcher_passed_on(placed: Placed, network: Callable[[str], str]) -> None:
    said = placed(network("a[0-1];b[0-1]"), ["w", "x", "y"], {"SLURMD_NODENAME": "a0"})
    assert said.count("several machines are called host 'a0'") == 1, said


def test_slurm_is_asked_for_and_absent(check: Check) -> None:
    said = check(SUBSETS, "chain:2,2", 4, placement="slurm", env=LOW)
    assert said.count("SLURMD_NODENAME is not set") == 1, said
    assert "SLURMD_NODENAME" not in os.environ


def test_hosts_that_share_a_machine_cannot_measure_uplinks(
    check: Check, network: Callable[[str], str]
) -> None:
    """One line; all-to-alls of communicators that cross an inter-switch link are left alone, no all-gathers."""
    said = check(SUBSETS, network("a[0-1];b[0-1]"), 4, env=LOW)
    assert said.count("cannot be measured where hosts of the network share a machine") == 1, said
    none_scheduled(said, "MPI_Alltoall", ranks=4)
    all_scheduled(said, "MPI_Allgather", ranks=4)


def test_a_torn_host_has_no_table(
    mpi: Mpi, launch: Launched, network: Callable[[str], str], names_library: Path, tmp_path: Path
) -> None:
    """Reasons that keep ranks from a plan keep them from hocket_schedule(), in the same words."""
    program = compile_with_hocket(mpi, PROGRAMS / "exchange_check.c")
    named = {
        "LD_PRELOAD": f"$LD_PRELOAD:{names_library}",
        "HOCKET_TEST_NAME": by_rank(["n.east", "n.west", "b0"]),
    }
    done = launch(
        [str(program), "run"],
        network("n;b[0-1]"),
        3,
        "--oversubscription=1",
        placement="names",
        exports=named,
    )
    said = done.stdout + done.stderr
    assert "code -3, not 0: several machines are called host 'n'; write whole names" in said, said
