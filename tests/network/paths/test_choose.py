"""Ports for connections, such that all paths together carry little."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from hocket import _core
from hocket.errors import NetworkError
from hocket.network import paths as choices
from hocket.network import read_known_network, read_network, read_network_description
from hocket.network.paths import (
    PORTS,
    SEVERAL,
    SILENT,
    Paths,
    asked_of,
    choose,
    port_of,
    routed,
    said,
    settled,
    table_for_ranks,
)
from hocket.network.paths import _chosen as choose_anew
from hocket.network.writer import network_files

FABRIC = "fat-tree:4x4x4@50Mbit"


def hashed(network: _core.Network, seed: int, silent: float = 0.0) -> Paths:
    """Paths as a hash would deal them out, some without an answer."""
    draw = random.Random(seed)
    names = [network.names[host] for host in network.hosts]
    ways = sorted({way for b in network.hosts[1:] for way in asked_of(network, network.hosts[0], b)[1]})
    paths = Paths("2026-11-27T20:30:00Z", {n: f"10.0.0.{i + 1}" for i, n in enumerate(names)}, ways,
                  {f"10.255.0.{i}": way for i, way in enumerate(ways)})  # fmt: skip
    for a, x in zip(names, network.hosts, strict=True):
        for b, y in zip(names, network.hosts, strict=True):
            if a != b and asked_of(network, x, y)[1]:
                paths.pairs[a, b] = tuple(  # type: ignore[assignment]
                    [SILENT if draw.random() < silent else draw.randrange(len(ways)) for _ in range(PORTS)]
                    for _ in range(2)
                )
    return paths


@pytest.mark.parametrize("silent", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_held_ports_take_the_routes_planned(seed: int, silent: float) -> None:
    network = read_network(FABRIC)
    paths = hashed(network, seed, silent)
    chosen = choose(network, paths)
    planned = routed(network, chosen.routes)
    names = list(paths.addresses)
    node = {network.names[host]: host for host in network.hosts}
    for (a, b), ports in chosen.held.items():
        there, back = (
            planned.route(names.index(a), names.index(b)),
            planned.route(names.index(b), names.index(a)),
        )
        for port in ports:
            index = port - port_of(names.index(b), PORTS, 0)
            ways = paths.pairs[a, b][0][index], paths.pairs[b, a][1][index]
            assert asked_of(network, node[a], node[b])[1][paths.ways[ways[0]]] == there
            assert asked_of(network, node[b], node[a])[1][paths.ways[ways[1]]] == back
    assert len(chosen.held) + chosen.open_pairs == (len(paths.pairs) if silent < 1 else len(paths.pairs) // 2)
    if silent == 0:
        demand = _core.Demand(network.ranks, 1)
        come = routed(network, chosen.as_they_come)
        assert _core.lower_bounds(planned, demand).phases <= 15 < _core.lower_bounds(come, demand).phases


@pytest.mark.parametrize("seed", range(1, 6))
def test_an_all_to_all_goes_in_shifts(seed: int) -> None:
    """Phases are as many as a host has others, though few ports give the network's own routes both ways."""
    network = read_network(FABRIC)
    on_paths = settled(network, hashed(network, seed))
    assert on_paths.shape.name == "routed"
    assert _core.plan_exchange(on_paths, _core.Demand(network.ranks, 1), 1).schedule.phases == 15


def test_hosts_keep_their_network_cards() -> None:
    leaves = [(4, 0), (4, 1), (5, 2), (5, 3), (4, 6), (4, 7), (5, 6), (5, 7)]
    a, b = (list(ends) for ends in zip(*leaves, strict=True))
    names, ranks = [f"n{node}" for node in range(8)], [1] * 4 + [0] * 4
    network = _core.Network.graph(names, ranks, a, b, [1e9] * 8, [0.0] * 8, [], [2] * 4 + [1] * 4)
    way = next(way for way in asked_of(network, 0, 2)[1].values() if way != network.route(0, 2))
    other = routed(network, {(0, 2): way})
    assert other.shape.name == "routed"
    assert other.ports == network.ports


def test_ports_that_give_the_networks_own_routes_change_nothing() -> None:
    network = read_network(FABRIC)
    paths = hashed(network, 1)
    number = {way: index for index, way in enumerate(paths.ways)}
    names = list(paths.addresses)
    for a, b in paths.pairs:
        route = list(network.route(names.index(a), names.index(b)))
        own = next(w for w, way in asked_of(network, *(network.hosts[names.index(x)] for x in (a, b)))[1].items()
                   if way == route)  # fmt: skip
        paths.pairs[a, b] = [number[own]] * PORTS, [number[own]] * PORTS
    assert settled(network, paths) is network


def test_sprayed_packets_make_the_middle_wide() -> None:
    network = read_network("fat-tree:4x4x2@50Mbit")
    paths = hashed(network, 1)
    paths.pairs["n0", "n4"][0][0] = SEVERAL
    assert "sprayed" in said(network, paths)
    demand = _core.Demand(network.ranks, 1)
    assert _core.lower_bounds(network, demand).phases > 15
    assert _core.lower_bounds(settled(network, paths), demand).phases == 15


def written(folder: Path, paths: Paths, network: _core.Network) -> str:
    path = folder / "fabric.toml"
    path.write_text('paths = "fabric.paths.json"\n' + network_files(network, str(path))[str(path)])
    (folder / "fabric.paths.json").write_text(paths.to_json())
    return str(path)


def test_ports_are_chosen_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network, chosen = read_network(FABRIC), []
    path = written(tmp_path, hashed(network, 1), network)
    monkeypatch.setattr(choices, "_chosen", lambda *of: chosen.append(choose_anew(*of)) or chosen[-1])
    description = read_network_description(path)
    description.build()
    assert len(chosen) == 1
    assert description.paths is not None
    choose(read_network(FABRIC.replace("50", "60")), description.paths)
    assert len(chosen) == 2


def test_files_are_read_as_they_were_written(tmp_path: Path) -> None:
    network = read_network(FABRIC)
    paths = hashed(network, 2, 0.1)
    known = read_known_network(written(tmp_path, paths, network))
    assert known.description.paths == paths
    assert known.network.shape.name == "routed"
    assert [known.network.route(0, b) for b in range(1, 16)] == [
        settled(network, paths).route(0, b) for b in range(1, 16)
    ]
    assert any("phases on ports as they come" in note for note in known.description.notes)


def test_ranks_know_every_way() -> None:
    """A table has the parts of all ways: each pair's route, and every other that it could take."""
    network = read_network(FABRIC)
    paths = hashed(network, 2)
    chosen = choose(network, paths)
    lines = [line.split() for line in table_for_ranks(network, paths, chosen).splitlines()]
    assert all(len(" ".join(words)) < 500 for words in lines)
    parts = {tuple(words[:3]): list(map(int, words[3:])) for words in lines if words[0] in ("up", "down")}
    asked = [words for words in lines if words[0] == "way"]
    assert len(asked) == len(chosen.held) == 192
    free = 0
    index = {address: number for number, address in enumerate(paths.addresses.values())}
    names = {address: name for name, address in paths.addresses.items()}
    for _, a, b, hops, *numbers in asked:
        src, dst, by, *beside = map(int, numbers)
        # Ports beside those of the connection go the same way.
        indices = [port - port_of(index[b], paths.ports, 0) for port in beside]
        ports_ways = {paths.pairs[names[a], names[b]][0][i] for i in indices}
        assert {paths.ways[way] for way in ports_ways} == {network.names[by]}
        assert 1 <= len(beside) <= 4
        free += beside[0] not in chosen.held[names[a], names[b]]
        assert [paths.addresses[network.names[node]] for node in (src, dst)] == [a, b]
        ways = asked_of(network, src, dst)[1]
        assert len(ways) == 4
        for switch, way in ways.items():
            through = str(network.names.index(switch))
            assert parts["up", str(src), through] + parts["down", through, str(dst)] == way
            assert (way == chosen.routes[src, dst]) == (int(through) == by)
            assert len(parts["up", str(src), through]) == int(hops)
    assert free > 180
    assert sum(words[0] == "router" for words in lines) == 4
    assert ["found", paths.found] in lines


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ('"version": 2', '"version": 1', "another version"),
        ('"listen": 28000', '"listen": 40000', "listen"),
        ('"ports": 28', '"ports": 27', "one for each port"),
        ('"ports": 28', '"ports": true', "ports"),
        ("2026-", "yesterday", "found"),
        ("10.0.0.1", "host one", "IP address"),
        ("10.255.0.1", "spine one", "IP address"),
        ('["n0", "n4"', '["n0", "n99"', "unknown host"),
        ('["n0", "n5"', '["n0", "n4"', "stands twice"),
        ('"pairs"', '"paris"', "no table of paths"),
        ("{", "[", "no table of paths|Expecting"),
    ],
)
def test_spoilt_tables_are_refused(tmp_path: Path, old: str, new: str, what: str) -> None:
    network = read_network(FABRIC)
    path = written(tmp_path, hashed(network, 2), network)
    beside = tmp_path / "fabric.paths.json"
    text = beside.read_text()
    assert old in text
    beside.write_text(text.replace(old, new, 1))
    with pytest.raises(NetworkError, match=what):
        read_known_network(path)


def test_paths_of_another_network(tmp_path: Path) -> None:
    network = read_network(FABRIC)
    path = written(tmp_path, hashed(network, 2), read_network("fat-tree:3x4x4@50Mbit"))
    with pytest.raises(NetworkError, match="no host 'n1"):
        read_known_network(path)
