"""The commands take the schedule that a run takes, with its waits and its prediction."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hocket.launch.environment import RuntimeOptions, plan_for_run
from hocket.network import read_network

EXAMPLES = Path(__file__).parents[2] / "examples" / "networks"


@pytest.mark.parametrize("pattern", ["all-to-all", "all-gather"])
@pytest.mark.parametrize("network", ["figure1.toml", "mixed-rates.toml", "fat-tree.xml", "two-clusters.xml"])
def test_plan_and_c_source(hocket, tmp_path: Path, network: str, pattern: str) -> None:
    built = read_network(str(EXAMPLES / network))
    run = plan_for_run(built, pattern)
    dump = tmp_path / "rows.csv"
    arguments = (pattern, "--network", EXAMPLES / network, "--json")
    file = tmp_path / "p.hkt"
    planned = hocket("plan", *arguments, "--dump", dump, "-o", file).object()
    assert (planned["algorithm"], planned["phases"]) == (run.algorithm, run.schedule.phases)
    export = hocket("export", file, "--to", "c", "-o", tmp_path / "a.c", "--json")
    assert export.code == 0, export.err
    assert (export.object()["phases"], export.object()["messages"]) == (
        run.schedule.phases,
        len(run.schedule),
    )
    source = (tmp_path / "a.c").read_text()
    assert re.search(rf"Algorithm +{run.algorithm}$", source, re.MULTILINE)
    rows = run.schedule.csv(0, run.schedule.phases)
    assert dump.read_bytes().partition(b"\n")[2] == rows


@pytest.mark.parametrize("pattern", ["all-to-all", "all-gather"])
@pytest.mark.parametrize("network", ["star:5", "chain:3,2,2", "tree:2x2x2", "torus:3x4", "fat-tree:3x2x2"])
def test_the_plan_file_is_that_of_a_run(hocket, tmp_path: Path, network: str, pattern: str) -> None:
    """Byte by byte, whatever the flow; windows that are said are kept."""
    built = read_network(network)
    for options, flow in (
        ((), "token"),
        ((), "barrier"),
        (("--window", 1), "window:1"),
        (("--window", 3), "window:3"),
    ):
        planned = hocket("plan", pattern, "--network", network, *options, "-o", tmp_path / "plan")
        assert planned.code == 0, planned.err
        run = plan_for_run(built, pattern, RuntimeOptions(flow_control=flow).window)
        assert (tmp_path / "plan").read_bytes() == run.encode()
        if options:
            assert run.waits.window == options[1]
