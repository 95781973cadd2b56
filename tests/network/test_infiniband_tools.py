"""The real tools on simulated fabrics: opensm routes, ibnetdiscover and dump_fts print, plans are proven."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import simulated_fabrics as simulated
from hocket import _core
from hocket.errors import NetworkError
from hocket.network import Defaults, read_known_network
from hocket.planning.plan import plan_collective

pytestmark = pytest.mark.skipif(
    bool(simulated.missing()), reason="needs ibsim-utils, opensm, infiniband-diags"
)
MOST = 1.05  # phases over the bound


def read(folder: Path, recorded: tuple[str, str]):  # type: ignore[no-untyped-def]
    for name, text in zip(("disc.txt", "fts.txt"), recorded, strict=True):
        (folder / name).write_text(text)
    return read_known_network(str(folder / "disc.txt"), Defaults(forwarding=str(folder / "fts.txt"))).network


def walked(fabric: simulated.Fabric, tables: str) -> dict[tuple[str, str], list[str]]:
    """The switches on the way from each host to each other, by the tables alone: read once more, by other means."""
    beyond: dict[str, list[str]] = {}
    for a, b in fabric.cables:
        beyond.setdefault(a, []).append(b)
        beyond.setdefault(b, []).append(a)
    entry = re.compile(r"^0x.{4} (\d{3}) : \(Channel Adapter .*: '(.*)'\)", re.MULTILINE)
    ports = {
        switch: {host: int(port) for port, host in entry.findall(table)}
        for switch, table in re.findall(r"^Unicast .* \((.*)\):\n((?:.*\n)*?)\d+ valid", tables, re.MULTILINE)
    }
    ways = {}
    for src in fabric.hosts:
        for dst in fabric.hosts:
            way, at = [], beyond[src][0]
            while src != dst and at != dst:
                way.append(at)
                at = beyond[at][ports[at][dst] - 1]
            ways[src, dst] = way
    return ways


@pytest.mark.parametrize("engine", simulated.ENGINES)
@pytest.mark.parametrize(
    "form", ["fat-tree:4x4x4", "fat-tree:4x4x2", "fat-tree:k=4", "torus:3x4", "dragonfly:5x4x1"]
)
def test_plans_are_proven_on_the_installed_routes(tmp_path: Path, form: str, engine: str) -> None:
    kind, _, size = form.partition(":")
    fabric = (
        simulated.torus([int(side) for side in size.split("x")], 2)
        if kind == "torus"
        else simulated.of_short_form(form)
    )
    if engine in ("ftree", "updn") and kind != "fat-tree":  # these need levels
        with pytest.raises(RuntimeError, match=f"has not routed by {engine}"):
            simulated.recorded(fabric, engine)
        return
    recorded = simulated.recorded(fabric, engine)
    network = read(tmp_path, recorded)
    names = [network.names[host] for host in network.hosts]
    assert sorted(names) == sorted(fabric.hosts)
    ways = walked(fabric, recorded[1])
    for src, a in enumerate(names):
        for dst, b in enumerate(names):
            if src != dst:
                passed = [network.channel_name(channel).split("->")[1] for channel in network.route(src, dst)]
                assert passed == [*ways[a, b], b]
    if kind == "fat-tree" and engine != "dfsssp":  # messages to a host come down one way
        rows = _core.ClosedForm(network, _core.Demand(network.ranks, 64), "nested-shifts")
        assert rows.verify_sample(500, 1).ok
    for name in ("all-to-all", "all-gather", "reduce-scatter", "all-reduce"):
        planned = plan_collective(name, network, 65536)
        assert planned.certificate.ok
        if name == "all-to-all":
            assert planned.schedule.phases <= max(MOST * planned.bound_phases, planned.bound_phases + 1)
            _, library = planned.predict(_core.RunCosts(network, None, _core.memory.Profile.built_in), 0)
            assert min(seconds for _, seconds in library) >= planned.bound_seconds * (1 - 1e-9)


def test_a_fabric_with_a_port_that_is_down(tmp_path: Path) -> None:
    """A cable that leads nowhere is not listed; nothing is assumed about it."""
    fabric = simulated.of_short_form("fat-tree:4x4x2")
    fabric.cables.remove(("s0", "s4") if ("s0", "s4") in fabric.cables else ("s4", "s0"))
    network = read(tmp_path, simulated.recorded(fabric, "minhop"))
    assert len(network.links) == 16 + 7
    assert plan_collective("all-to-all", network, 4096).certificate.ok


def test_ftree_sends_down_one_way_where_hosts_are_missing_too(tmp_path: Path) -> None:
    fabric = simulated.of_short_form("fat-tree:8x8x4")
    gone = {"n3", "n20", "n21", "n47"}
    fabric.hosts = [host for host in fabric.hosts if host not in gone]
    fabric.cables = [cable for cable in fabric.cables if not gone & set(cable)]
    network = read(tmp_path, simulated.recorded(fabric, "ftree"))
    demand = _core.Demand(network.ranks, 64)
    assert (
        network.ranks == 60 and _core.ClosedForm(network, demand, "nested-shifts").verify_sample(2000, 1).ok
    )
    planned = _core.plan_exchange(network, demand, algorithm="nested-shifts")
    assert _core.verify(network, demand, planned.schedule).ok


def test_without_a_subnet_manager_hosts_have_no_lid(tmp_path: Path) -> None:
    with simulated.running(simulated.of_short_form("star:4"), tmp_path) as environment:
        disc = simulated.asked(environment, ["ibnetdiscover"], 60)
        fts = simulated.asked(environment, ["dump_fts"], 60)
    with pytest.raises(NetworkError, match="has no lid; let the subnet manager route"):
        read(tmp_path, (disc, fts))


def test_discover(tmp_path: Path) -> None:
    fabric = simulated.of_short_form("fat-tree:4x4x2")
    with simulated.running(fabric, tmp_path) as environment:
        simulated.asked(environment, ["opensm", "-R", "ftree", "-e", "-o", "-f", str(tmp_path / "log")], 60)

        def discover(*words: object) -> subprocess.CompletedProcess[str]:
            command = ["ibsim-run", sys.executable, "-m", "hocket", "network", "discover", *map(str, words)]
            return subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=120, check=False
            )

        told = discover("--infiniband", "-o", tmp_path / "net.toml", "--keep", tmp_path / "kept")
        again = discover("--infiniband", "-o", tmp_path / "again.toml", "--json")
    assert told.returncode == 0, told.stderr
    assert told.stdout.startswith(
        "InfiniBand: a graph of 16 hosts, 6 switches, 24 links, 96 forwarding entries\n"
    )
    assert json.loads(again.stdout)["forwarding_entries"] == 96
    kept = (
        (tmp_path / "kept" / "ibnetdiscover.txt").read_text(),
        (tmp_path / "kept" / "dump_fts.txt").read_text(),
    )
    asked, written = read(tmp_path, kept), read_known_network(str(tmp_path / "net.toml")).network
    assert (asked.names, asked.next_hops) == (written.names, written.next_hops)
    assert [asked.rate(channel) for channel in range(asked.channels)] == [
        written.rate(channel) for channel in range(written.channels)
    ]


def test_the_dump_of_opensm_itself(tmp_path: Path) -> None:
    """Complete where dump_fts leaves out the last lid: 8 × 8 switches with a host each have 128 lids."""
    fabric = simulated.torus([8, 8])
    with simulated.running(fabric, tmp_path) as environment:
        log = str(tmp_path / "log")
        simulated.asked(environment, ["opensm", "-R", "dor", "-e", "-o", "-D", "0x43", "-f", log], 60)
        disc = simulated.asked(environment, ["ibnetdiscover"], 60)
    network = read(tmp_path, (disc, (tmp_path / "opensm-lfts.dump").read_text()))
    assert plan_collective("all-to-all", network, 4096).certificate.ok
