"""Every form of the calls with messages of different sizes: scheduled, or passed on by a rule; whole buffers
compared, under both MPI families."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hocket.launch.mpi import Mpi, MpiFamily
from scheduled_calls import ALL, scheduled

Check = Callable[..., str]

FORMS = [
    "alltoallv",
    "alltoallw",
    "neighbor_allgather:edges",
    "neighbor_allgather:grid",
    "neighbor_allgatherv:edges",
    "neighbor_allgatherv:ring",
    "neighbor_alltoall:edges",
    "neighbor_alltoall:grid",
    "neighbor_alltoallv:ring",
    "neighbor_alltoallw:edges",
    "neighbor_alltoallw:grid",
]
ROUNDS = 3


def forms_of(mpi: Mpi) -> list[str]:
    """Open MPI 5 has no large counts."""
    if mpi.family is MpiFamily.OPENMPI:
        return FORMS
    large = [f"{name}_c:{topology}" for name, _, topology in (form.partition(":") for form in FORMS)]
    return FORMS + [form.rstrip(":") for form in large]


@pytest.mark.parametrize(
    ("mode", "calls"),
    [
        ("blocking", ROUNDS - 1),
        ("persistent", ROUNDS),
        ("nonblocking", 0),
    ],  # the first tells the ranks the sizes
)
def test_every_form(check: Check, tmp_path: Path, mpi: Mpi, mode: str, calls: int) -> None:
    trace = tmp_path / "trace"
    forms = forms_of(mpi)
    check(
        f"irregular_forms_check {mode} {' '.join(forms)}",
        "chain:3,3",
        6,
        env=ALL | {"HOCKET_TRACE": str(trace)},
    )
    assert scheduled(trace) == calls * len(forms)


def test_several_ranks_on_a_host(check: Check, tmp_path: Path, mpi: Mpi) -> None:
    """On neighbourhoods of a part of the hosts, in small pieces."""
    trace = tmp_path / "trace"
    env = ALL | {"HOCKET_TRACE": str(trace), "HOCKET_SEGMENT": "1031"}
    check(f"irregular_forms_check blocking {' '.join(FORMS)}", "star:4*2", 5, env=env)
    assert scheduled(trace) == (ROUNDS - 1) * len(FORMS)
