"""MPI_Bcast by plan from every root: every byte checked, under both MPI families."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hocket.network import read_network

Check = Callable[..., str]


@pytest.mark.parametrize("network", ["chain:3,3", "torus:2x2x2"])
def test_every_root(check: Check, network: str) -> None:
    ranks = read_network(network).ranks
    said = check("broadcast_check", network, ranks, env={"HOCKET_MIN_GATHER_BYTES": "1"})
    # The world, and in reverse order.
    assert said.count(f"hocket: broadcast of {ranks} ranks on {ranks} hosts") == 2 * ranks
    assert said.count(f"hocket: broadcast of {ranks // 2} ranks") == ranks


def test_small_ones_go_to_the_mpi_library(check: Check) -> None:
    assert "hocket: broadcast" not in check("broadcast_check 1000", "chain:2,2", 4)
    assert "hocket: broadcast" in check("broadcast_check 5000", "chain:2,2", 4)
