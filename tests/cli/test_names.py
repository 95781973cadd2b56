"""Names: a collective by any of its names with every command; names that commands and options had."""

from __future__ import annotations

import pytest

import hocket as package
from hocket import _core
from hocket.demand.collectives import COLLECTIVES, EQUAL, IRREGULAR, spelled
from refusals import refused

STAR = ("--network", "star:4")


def names_of(entry: _core.Collective) -> list[str]:
    """Hocket's spelling of a collective, the same without hyphens, and the MPI calls with and without their prefix."""
    calls = entry.mpi_calls.split(", ")
    return [
        entry.name,
        entry.name.replace("-", ""),
        *calls,
        *(call.removeprefix("MPI_").lower() for call in calls),
    ]


GRID = list(dict.fromkeys((name, entry.name) for entry in COLLECTIVES.values() for name in names_of(entry)))
EACH = [(name, collective) for name, collective in GRID if collective != IRREGULAR]


@pytest.mark.parametrize(("name", "collective"), GRID)
def test_every_name_has_one_spelling(name: str, collective: str) -> None:
    forms = [name, name.upper(), f"{name}_init", f"{name}_c", f"{name}_init_c"]
    if name.startswith("MPI_"):
        forms.append(name.replace("MPI_", "MPI_I"))
    assert {spelled(form) for form in forms} == {collective}


@pytest.mark.parametrize("name", ["", "all", "MPI_", "MPI_Barrier", "alltoallx", "to-all", "auto", "tree"])
def test_what_is_no_name_stays(name: str) -> None:
    assert spelled(name) == name


@pytest.mark.parametrize(("name", "collective"), EACH)
def test_plan(hocket, name: str, collective: str) -> None:
    answer = hocket("plan", name, *STAR, "--bytes", "8KiB")
    assert answer.code == 0 and answer.out.startswith(f"{collective} of 4 ranks"), answer


@pytest.mark.parametrize(("name", "collective"), EACH)
def test_simulate(hocket, name: str, collective: str) -> None:
    options = ("simulate", *STAR, "--bytes", "8KiB", "--json", "--pattern")
    found, known = hocket(*options, name).object(), hocket(*options, collective).object()
    assert {**found, "peak_rss_bytes": 0} == {**known, "peak_rss_bytes": 0}


@pytest.mark.parametrize(("name", "collective"), GRID)
def test_bench(hocket, name: str, collective: str) -> None:
    """The command is found: it is the same one that misses its ranks, or shows its help."""
    refused(hocket("bench", name), "-n is missing")
    assert hocket("bench", name, "--help").out == hocket("bench", collective, "--help").out


@pytest.mark.parametrize("name", ["MPI_Alltoallv", "alltoallw", "Gatherv", "neighbor_alltoall"])
def test_irregular_exchanges(hocket, tmp_path, name: str) -> None:
    demand = tmp_path / "a.csv"
    demand.write_text("0,1,2,3\n4,0,5,6\n7,8,0,9\n1,2,3,0\n")
    answer = hocket("plan", name, *STAR, "--demand", demand)
    assert answer.code == 0 and answer.out.startswith("irregular exchange of 4 ranks"), answer
    simulated = hocket("simulate", *STAR, "--pattern", name, "--demand", demand, "--json").object()
    assert simulated["pattern"] == IRREGULAR


def test_balance_and_python(hocket) -> None:
    assert hocket("network", "balance", "torus:3x3").code == 0
    for entry in EQUAL:
        call = entry.mpi_calls.split(", ")[0]
        planned, known = (package.plan("star:4", name, bytes=4096) for name in (call, entry.name))
        assert repr(planned) == repr(known) and planned.predicted_seconds == known.predicted_seconds


def test_a_name_of_no_collective(hocket) -> None:
    refused(
        hocket("plan", "MPI_Barrier"), "'hocket plan' has no command MPI_Barrier; see 'hocket plan --help'"
    )
    refused(
        hocket("simulate", *STAR, "--pattern", "barrier"), "--pattern 'barrier' is not accepted; give one of"
    )


def test_an_option_that_a_command_never_had_is_unknown(hocket) -> None:
    refused(hocket("network", "show", "star:4", "--heat", "x"), "'hocket network show' has no option --heat")
