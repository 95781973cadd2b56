"""Columns of a grid of ranks that call at once load each other's wires, and each of them is told so."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from builds import compile_once
from hocket.lab import Lab
from hocket.launch.environment import RuntimeOptions, scheduled_environment
from hocket.launch.mpi import Mpi
from hocket.network import read_known_network, read_network_description

pytestmark = [
    pytest.mark.by_turns,
    pytest.mark.lab,
    pytest.mark.skipif(
        os.geteuid() != 0 or shutil.which("nsenter") is None,
        reason="the lab needs root and nsenter (util-linux)",
    ),
]
NETWORK = "chain:6,6@50Mbit"
PROGRAM = Path(__file__).parents[2] / "bench" / "choose" / "total_time.c"


def test_columns_share_their_wires_and_all_ranks_together_do_not(mpi: Mpi) -> None:
    program = compile_once([mpi.mpicc, "-O1", str(PROGRAM)], "total_time")
    env = scheduled_environment(
        mpi.mpicc, read_known_network(NETWORK), RuntimeOptions(choose="learn", log=2)
    ) | {"HOCKET_CHOICES": ""}
    with Lab.up(read_network_description(NETWORK)) as lab:
        for call, is_shared in (("columns", True), ("alltoall", False)):
            done = lab.run([str(program), call, "65536", "6"], mpi=mpi, env=env, timeout=120, capture=True)
            assert done.exit_code == 0 and " right" in done.output, done.output
            assert ("others load the wires" in done.output) == is_shared, done.output
