"""The platform that we export, and the simulator's prediction, against SimGrid's SMPI."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hocket import _core
from hocket.errors import UsageError
from hocket.export.smpi_trace import hostfile, link_name, platform_xml
from hocket.network import read_network
from hocket.planning.plan import plan_collective

sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "smpi"))
from referee import Referee, missing_tools, program_text

needs_simgrid = pytest.mark.skipif(
    bool(missing_tools()), reason="SimGrid is not installed (Debian: libsimgrid-dev)"
)
FORMS = ["tree:(3,(2),(1))", "chain:2,0,3", "torus:3x2", "torus:4x6", "mesh:2x3", "hypercube:3"]


@pytest.mark.parametrize("form", FORMS)
def test_our_reader_reads_the_platform_back(form: str, tmp_path: Path) -> None:
    network = read_network(f"{form}@1Gbit,3us")
    path = tmp_path / "platform.xml"
    path.write_text(platform_xml(network), encoding="utf-8")
    again = read_network(str(path))
    assert [again.names[h] for h in again.hosts] == [network.names[h] for h in network.hosts]
    for src in range(network.ranks):
        for dst in range(network.ranks):
            ours = [(network.rate(c), network.latency(c)) for c in network.route(src, dst)]
            assert [(again.rate(c), again.latency(c)) for c in again.route(src, dst)] == ours
    demand = _core.Demand(network.ranks, 1000)
    assert _core.lower_bounds(again, demand).seconds == _core.lower_bounds(network, demand).seconds


@pytest.mark.parametrize("ties", [["++--++--", "+-+-"], ["++++++++", "----"]])
def test_the_platform_has_the_ties_of_the_network(ties: list[str], tmp_path: Path) -> None:
    network = _core.Network.grid("torus", [8, 4], 1e9, 1e-6, ties=ties)
    path = tmp_path / "platform.xml"
    path.write_text(platform_xml(network), encoding="utf-8")
    again = read_network(str(path))
    for src in range(32):
        for dst in range(32):
            ours = [link_name(network, c) for c in network.route(src, dst)]
            assert [again.channel_name(c) for c in again.route(src, dst)] == ours


def test_names_are_escaped() -> None:
    network = _core.Network.tree(["<s&\"'>", "a&b", "c"], [0, 1, 1], [0, 0], [1, 2], [1e6, 1e6], [0.0, 0.0])
    assert 'id="a&amp;b"' in platform_xml(network)
    assert hostfile(network) == "a&b\nc\n"


def test_a_hostfile_cannot_hold_every_name() -> None:
    network = _core.Network.tree(["s", "a b", "c"], [0, 1, 1], [0, 0], [1, 2], [1e6, 1e6], [0.0, 0.0])
    with pytest.raises(UsageError, match="hostfile"):
        hostfile(network)


def test_too_many_routes() -> None:
    with pytest.raises(UsageError, match="too large"):
        platform_xml(read_network("star:1025"))


@needs_simgrid
@pytest.mark.parametrize("form", ["tree:(3,(2),(1))", "chain:3,2,3"])
def test_predictions_agree(form: str, tmp_path: Path) -> None:
    network = read_network(f"{form}@1Gbit,1us")
    referee = Referee(network, tmp_path)
    demand = _core.Demand(network.ranks, 262144)
    schedule = _core.Algorithm.find("tree").make(network, demand)
    parameters = _core.ModelParameters(barrier=referee.barrier(), latency_weighted=True)
    bound = _core.lower_bounds(network, demand).seconds
    for flow, window in (("token", 1), ("window:2", 2), ("free", 1), ("barrier", 1)):
        waits = _core.Waits.derive(network, schedule, window) if flow in ("token", "window:2") else None
        seconds = referee.program(program_text(schedule, waits, window, barrier=flow == "barrier"))
        predicted = _core.simulate(network, schedule, waits, flow, parameters).seconds
        assert predicted == pytest.approx(seconds, rel=0.03), flow
        if flow == "token":
            assert seconds <= 1.01 * bound


@needs_simgrid
@pytest.mark.parametrize("collective", ["all-reduce", "reduce-scatter", "broadcast"])
def test_reductions_meet_their_prediction(collective: str, tmp_path: Path) -> None:
    network = read_network("chain:3,2,3@1Gbit,1us")
    planned = plan_collective(collective, network, 1 << 20)
    seconds = Referee(network, tmp_path).program(
        program_text(planned.schedule, planned.waits, planned.waits.window)
    )
    assert planned.bound_seconds <= seconds <= 1.2 * planned.predicted_seconds
