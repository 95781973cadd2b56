"""The variables by which connections take planned paths."""

from __future__ import annotations

from pathlib import Path

import pytest

from hocket.errors import UsageError
from hocket.launch.environment import scheduled_variables
from hocket.launch.placement import paths_environment
from hocket.network import NetworkDescription, read_network, read_network_description
from hocket.network.paths import PORTS, SEVERAL, Paths, asked_of

FABRIC = "fat-tree:2x1x2"


def fabric(first: int = 0) -> NetworkDescription:
    network = read_network(FABRIC)
    ways = sorted(asked_of(network, *network.hosts)[1])
    paths = Paths("2026-11-27T20:30:00Z", {"n0": "10.0.0.1", "n1": "10.0.0.2"}, ways)
    for pair in (("n0", "n1"), ("n1", "n0")):
        paths.pairs[pair] = ([first, *[1] * (PORTS - 1)], [0] * PORTS)
    description = read_network_description(FABRIC)
    description.paths = paths
    return description


def table_of(said: dict[str, str]) -> str:
    word, _, path = said["HOCKET_PATHS"].partition(":")
    assert word == "hold"
    return Path(path).read_text()


def test_ranks_get_a_table_and_a_port_to_listen_at() -> None:
    said = paths_environment(fabric(), {"FI_TCP_PORT_LOW_RANGE": "5000"})
    assert said.keys() <= set(scheduled_variables())
    assert said["UCX_TCP_PORT_RANGE"] == "28000-28000"
    assert "FI_TCP_PORT_LOW_RANGE" not in said  # the user's stays
    lines = [line for line in table_of(said).splitlines() if line.startswith("10.")]
    assert sorted(line.split()[:3] for line in lines) == [
        ["10.0.0.1", "10.0.0.2", "28000"],
        ["10.0.0.2", "10.0.0.1", "28000"],
    ]
    assert paths_environment(fabric(), {"HOCKET_PATHS": "spread"})["HOCKET_PATHS"].startswith("spread:/")
    assert paths_environment(fabric(), said)["HOCKET_PATHS"] == said["HOCKET_PATHS"]  # prepared twice


def test_connections_keep_to_the_rate_of_hosts_links_if_it_is_known() -> None:
    assert "pace" not in table_of(paths_environment(fabric(), {}))  # assumed: gigabit Ethernet
    stated = fabric()
    for link in stated.links:
        link.rate = 1e9 / 8
    assert f"\npace {int(0.95e9 / 8)}\n" in table_of(paths_environment(stated, {}))


def test_nothing_is_said_where_no_path_can_be_held() -> None:
    assert paths_environment(read_network_description(FABRIC), {}) == {}
    assert paths_environment(fabric(), {"HOCKET_PATHS": "off"}) == {}
    assert paths_environment(fabric(SEVERAL), {}) == {}


def test_a_wrong_word_is_refused() -> None:
    with pytest.raises(UsageError, match="HOCKET_PATHS='held'"):
        paths_environment(fabric(), {"HOCKET_PATHS": "held"})
