"""Rates of the links between switches: as options say, as the file states, or assumed and said so."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hocket.errors import NetworkError, UsageError
from hocket.network import (
    Defaults,
    KnownNetwork,
    Link,
    NetworkDescription,
    read_known_network,
    read_network,
    read_network_description,
)
from hocket.network.uplinks import shared_uplinks

EXAMPLES = Path(__file__).parents[2] / "examples" / "networks"
SLURM = str(EXAMPLES / "topology.conf")
YAML = str(EXAMPLES / "topology.yaml")
modest = settings(derandomize=True, deadline=None, database=None, max_examples=60)


def uplink_rates(known: KnownNetwork) -> dict[str, float]:
    """Rates of the uplinks over the default, by their ends."""
    links = known.description.links
    return {f"{links[i].a}-{links[i].b}": links[i].rate / 125e6 for i in known.description.uplinks()}


@pytest.mark.parametrize("source", [SLURM, YAML])
def test_what_slurm_does_not_say_is_assumed_aloud(source: str) -> None:
    known = read_known_network(source)
    assert known.uplinks.provenance == "assumed"
    assert known.uplinks.text.startswith("uplinks: assumed")
    assert "--oversubscription" in known.uplinks.text
    assert "--uplink-rate" in known.uplinks.text
    assert set(uplink_rates(known).values()) == {1}
    assert not any(link.rate_given for link in known.description.links)


@pytest.mark.parametrize(
    "source", ["tree:4x8", "fat-tree:k=4", "dragonfly:3x3x2", str(EXAMPLES / "figure1.toml")]
)
def test_other_sources_state_their_rates(source: str) -> None:
    known = read_known_network(source)
    assert known.uplinks.provenance == "stated"
    assert all(link.rate_given for link in known.description.links)
    assert known.uplinks.switch_links == len(known.description.uplinks()) > 0


@pytest.mark.parametrize("source", ["star:8", "torus:4x4", "hypercube:3"])
def test_no_two_switches_no_uplinks(source: str) -> None:
    known = read_known_network(source, Defaults(oversubscription=(2,)))
    assert known.uplinks.provenance == "none"
    assert known.uplinks.switch_links == 0


def test_the_rate_of_uplinks_is_what_the_option_says() -> None:
    known = read_known_network(SLURM, Defaults(uplink_rate=5e8))
    assert known.uplinks.provenance == "stated"
    assert "--uplink-rate" in known.uplinks.text
    assert set(uplink_rates(known).values()) == {4}
    assert [known.network.rate(2 * i) for i in known.description.uplinks()] == [5e8] * 3
    assert read_network(SLURM, Defaults(uplink_rate=5e8)).host_rate == 125e6


@pytest.mark.parametrize(
    ("source", "shares", "rates"),
    [
        (SLURM, (1,), {8}),
        (SLURM, (4,), {2}),
        ("tree:2x3x8", (1,), {8, 24}),
        ("tree:2x3x8", (2,), {4, 6}),  # of what the links below carry, so twice 2:1
        ("tree:2x3x8", (2, 4), {4, 3}),
        ("tree:2x3x8", (2, 1), {4, 12}),
        ("chain:8,8,4", (1,), {4, 12}),
        ("fat-tree:4x8x2", (1,), {4}),  # divided among the spines
        ("fat-tree:4x8x2", (2,), {2}),
        ("fat-tree:k=4", (1,), {1}),
        ("fat-tree:k=8x16", (2,), {2, 1}),
        (str(EXAMPLES / "two-spines.toml"), (1,), {80 * 2 / 8}),
    ],
)
def test_oversubscription_is_of_what_lies_below(
    source: str, shares: tuple[float, ...], rates: set[float]
) -> None:
    known = read_known_network(source, Defaults(oversubscription=shares))
    assert known.uplinks.provenance == "stated"
    assert "--oversubscription" in known.uplinks.text
    assert sorted(set(uplink_rates(known).values())) == pytest.approx(sorted(rates))


@modest
@given(
    parents=st.lists(st.integers(0, 100), max_size=12),
    hosts=st.lists(st.integers(1, 9), min_size=13, max_size=13),
    shares=st.lists(st.sampled_from([1, 1.5, 2, 4, 8]), min_size=1, max_size=4),
)
def test_every_uplink_of_any_tree(parents: list[int], hosts: list[int], shares: list[float]) -> None:
    """Check by another method: the capacity of a subtree, counted down from its root."""
    children: dict[int, list[int]] = {0: []}
    for child, parent in enumerate(parents, 1):
        children[child] = []
        children[parent % child].append(child)

    def height(switch: int) -> int:
        return 1 + max(map(height, children[switch]), default=0)

    def uplink(switch: int) -> float:
        below = hosts[switch] + sum(map(uplink, children[switch]))
        return below / shares[min(height(switch), len(shares)) - 1]

    def text(switch: int) -> str:
        return f"({','.join([str(hosts[switch]), *map(text, children[switch])])})"

    order: list[int] = []  # as switches of a short form are numbered

    def walk(switch: int) -> None:
        order.append(switch)
        for child in children[switch]:
            walk(child)

    walk(0)
    known = read_known_network(f"tree:{text(0)}", Defaults(oversubscription=tuple(shares)))
    found = {name.split("-s")[1]: rate for name, rate in uplink_rates(known).items()}
    assert found == {
        str(number): pytest.approx(uplink(switch)) for number, switch in enumerate(order) if number > 0
    }


@pytest.mark.parametrize(
    ("leaves", "assumed"),
    [
        ((1, 1), 0),
        ((1, 9), 0),
        ((2, 1), 0),
        ((2, 2), 2),
        ((1, 1, 1), 0),
        ((1, 2, 1), 1),
        ((1, 3, 4), 2),
    ],
)
def test_a_host_alone_needs_no_known_uplink(tmp_path: Path, leaves: tuple[int, ...], assumed: int) -> None:
    """Its own link is no faster: below or above an uplink of one host nothing is left to know."""
    lines, first = [], 0
    for number, hosts in enumerate(leaves):
        lines.append(f"SwitchName=s{number} Nodes=n[{first}-{first + hosts - 1}]\n")
        first += hosts
    lines.append(f"SwitchName=top Switches=s[0-{len(leaves) - 1}]\n")
    source = tmp_path / "topology.conf"
    source.write_text("".join(lines))
    known = read_known_network(str(source))
    assert known.uplinks.provenance == ("assumed" if assumed else "none")
    assert known.uplinks.switch_links == assumed


@modest
@given(
    parents=st.lists(st.integers(0, 100), max_size=12),
    hosts=st.lists(st.integers(0, 3), min_size=13, max_size=13),
)
def test_shared_uplinks_of_any_tree(parents: list[int], hosts: list[int]) -> None:
    """Check by another method: the hosts below each switch, counted down from its root."""
    below = hosts[: len(parents) + 1]
    result = NetworkDescription()
    for switch, count in enumerate(below):
        result.add_switch(f"s{switch}")
        for host in range(count):
            result.add_host(f"n{switch}.{host}")
            result.links.append(Link(f"n{switch}.{host}", f"s{switch}"))
    for child in range(len(parents), 0, -1):
        parent = parents[child - 1] % child
        result.links.append(Link(f"s{parent}", f"s{child}"))
        below[parent] += below[child]
    expected = {f"s{i}" for i in range(1, len(below)) if 2 <= below[i] <= below[0] - 2}
    assert {result.links[i].b for i in shared_uplinks(result)} == expected


def test_both_options_contradict_each_other() -> None:
    with pytest.raises(UsageError, match="--uplink-rate and --oversubscription"):
        read_known_network(SLURM, Defaults(uplink_rate=1e9, oversubscription=(1,)))


@pytest.mark.parametrize("source", ["dragonfly:3x3x2", str(EXAMPLES / "two-clusters.xml")])
def test_a_network_without_levels(source: str) -> None:
    with pytest.raises(NetworkError, match="--oversubscription") as caught:
        read_known_network(source, Defaults(oversubscription=(2,)))
    assert caught.value.remedy


def test_explicit_routes_have_no_uplinks() -> None:
    with pytest.raises(NetworkError, match="--uplink-rate"):
        read_known_network(str(EXAMPLES / "two-clusters.xml"), Defaults(uplink_rate=1e9))


def test_links_between_routers_of_a_dragonfly() -> None:
    known = read_known_network("dragonfly:3x3x2", Defaults(uplink_rate=25e7))
    assert set(uplink_rates(known).values()) == {2}


def test_a_description_is_what_the_file_says() -> None:
    description = read_network_description(SLURM, Defaults(oversubscription=(1,)))
    assert {link.rate for link in description.links} == {125e6}
