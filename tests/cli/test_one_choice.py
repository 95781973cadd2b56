"""The commands take the schedule that a run takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from hocket import _core
from hocket.network import read_network
from hocket.runtime.environment import plan_for_run

EXAMPLES = Path(__file__).parents[2] / "examples" / "networks"


@pytest.mark.parametrize("pattern", ["all-to-all", "all-gather"])
@pytest.mark.parametrize("network", ["figure1.toml", "mixed-rates.toml", "fat-tree.xml", "two-clusters.xml"])
def test_plan_and_generate(hocket, tmp_path: Path, network: str, pattern: str) -> None:
    built = read_network(str(EXAMPLES / network))
    run = plan_for_run(built, pattern, _core.run_window(pattern))
    dump = tmp_path / "rows.csv"
    arguments = (pattern, "--network", EXAMPLES / network, "--json")
    planned = hocket("plan", *arguments, "--dump", dump).object()
    written = hocket("generate", *arguments, "-o", tmp_path / "a.c").object()
    for report in (planned, written):
        assert (report["scheduler"], report["phases"]) == (run.header.scheduler, run.header.phases)
    rows = run.schedule.csv(0, run.schedule.phases)
    assert dump.read_bytes().partition(b"\n")[2] == rows
