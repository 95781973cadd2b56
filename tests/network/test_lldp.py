"""LLDP: what nodes hear of each other becomes a network. Files as lldpd 1.0.16 has printed them lie in ``recorded``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hocket.errors import NetworkError
from hocket.network import Defaults, NetworkDescription
from hocket.network.neighbours import Choice, merge
from hocket.network.readers.lldp import rate_of, read_record
from hocket.network.source import Source

RECORDED = Path(__file__).parent / "recorded"
SPEED = "25GbaseCR - 25GBASE-CR PHY"


def heard(
    interface: str,
    node: str,
    port: str,
    *,
    forwards: bool = False,
    speed: str = SPEED,
    ident: str = "",
    lag: str = "",
) -> dict[str, Any]:
    """A neighbour as ``lldpctl -f json`` tells it. A node called "" sends no name."""
    told: dict[str, Any] = {
        "id": {"type": "mac", "value": ident or f"id of {node}"},
        "capability": [{"type": "Bridge", "enabled": forwards}, {"type": "Station", "enabled": not forwards}],
    }
    end: dict[str, Any] = {"id": {"type": "ifname", "value": port}, "descr": "to " + node, "ttl": "120"}
    if speed:
        end["auto-negotiation"] = {"supported": True, "current": speed}
    if lag:
        end["aggregation"] = lag
    chassis = {node: told} if node else told
    return {interface: {"via": "LLDP", "rid": "1", "chassis": chassis, "port": end}}


def record(node: str, *neighbours: dict[str, Any]) -> tuple[str, str]:
    return f"{node}.json", json.dumps({"lldp": {"interface": list(neighbours)}}, indent=1)


def merged(*files: tuple[str, str], **choice: Any) -> NetworkDescription:
    records = [read_record(Source(name, text)) for name, text in files]
    return merge(records, Defaults(), Choice(**choice))


def refused(*files: tuple[str, str], **choice: Any) -> str:
    with pytest.raises(NetworkError) as caught:
        merged(*files, **choice)
    assert caught.value.remedy and "\n" not in str(caught.value)
    return str(caught.value)


def links(description: NetworkDescription) -> dict[str, float]:
    """Gbit/s by the names of both ends."""
    return {f"{link.a} {link.b}": link.rate * 8 / 1e9 for link in description.links}


def two_leaves(switch_links: int = 2, lag: str = "1", speed: str = "100GbaseCR4") -> list[tuple[str, str]]:
    """Two hosts on each of two switches, which are wired to each other."""

    def leaf(me: int) -> tuple[str, str]:
        other = 1 - me
        own = [heard(f"swp{host}", f"n{2 * me + host}", "eth0") for host in range(2)]
        wires = [heard(f"swp{10 + k}", f"leaf{other}", f"swp{10 + k}", forwards=True, speed=speed, lag=lag)
                 for k in range(switch_links)]  # fmt: skip
        return record(f"leaf{me}", *own, *wires)

    hosts = [
        record(f"n{host}", heard("eth0", f"leaf{host // 2}", f"swp{host % 2}", forwards=True))
        for host in range(4)
    ]
    return [leaf(0), leaf(1), *hosts]


@pytest.mark.parametrize("folder", ["lldp", "lldp0"])
def test_a_real_recording(folder: str) -> None:
    files = [(path.name, path.read_text()) for path in sorted((RECORDED / folder).iterdir())]
    description = merged(*files)
    assert description.shape == "tree" and not description.notes
    assert [node.name for node in description.nodes] == ["s0", "s1", "s2", "n0", "n1", "n2", "n3"]
    assert set(links(description)) == {"n0 s1", "n1 s1", "n2 s2", "n3 s2", "s0 s1", "s0 s2"}
    assert set(links(description).values()) == {10.0}
    network = description.build()
    assert [network.channel_name(c) for c in network.route(0, 3)] == ["n0->s1", "s1->s0", "s0->s2", "s2->n3"]


def test_files_are_known_by_their_chassis_before_their_names() -> None:
    files = [
        (f"file{number}", path.read_text())
        for number, path in enumerate(sorted((RECORDED / "lldp").iterdir()))
    ]
    assert len(merged(*files).hosts) == 4


def test_cables_side_by_side_are_one_wider_link() -> None:
    description = merged(*two_leaves())
    assert links(description) == {
        "leaf0 n0": 25,
        "leaf0 n1": 25,
        "leaf1 n2": 25,
        "leaf1 n3": 25,
        "leaf0 leaf1": 200,
    }
    assert description.shape == "tree"
    assert description.notes == [
        "several cables side by side are one link of their common rate: 1 link (leaf0 - leaf1)"
    ]
    loose = merged(*two_leaves(lag=""))
    assert "no link aggregation is told of 1 link (leaf0 - leaf1), where a spanning tree" in loose.notes[0]


def test_what_only_one_end_tells_counts_and_is_said() -> None:
    files = two_leaves(switch_links=1)
    files[5] = record("n3", heard("eth1", "leaf9", "x", forwards=True))
    files[2] = record("n0")
    description = merged(*files, interface="eth0")
    assert links(description)["leaf1 n3"] == 25
    assert description.notes[0] == "told by one end only, and taken: 2 cables (leaf0 - n0, leaf1 - n3)"


def test_switches_alone_or_hosts_and_one_switch_are_enough() -> None:
    files = two_leaves()
    assert links(merged(*files[:2])) == links(merged(*files))
    assert links(merged(*files[2:], files[0])) == links(merged(*files))
    message = refused(*files[2:])
    assert "no cable leads from 'n0' to 'n2': the files are of 2 separate networks" in message


def test_speeds_that_nobody_tells() -> None:
    description = merged(*two_leaves(switch_links=1, speed=""))
    switch_link = next(link for link in description.links if link.b == "leaf1")
    assert (
        switch_link.rate * 8 == 25e9 and not switch_link.rate_given
    )  # asked, measured or assumed like Slurm's
    assert not description.notes
    bare = [record("leaf", *(heard(f"p{host}", f"n{host}", "e0", speed="") for host in range(3)))]
    described = merged(*bare, hosts=["n0", "n1", "n2"])
    assert set(links(described).values()) == {1.0}
    assert described.notes == [
        "no speed is told of 3 host links (leaf - n0, leaf - n1, leaf - n2): taken for 1 Gbit/s"
    ]


@pytest.mark.parametrize(
    ("text", "gigabits"),
    [
        ("1000BaseTFD - Four-pair Category 5 UTP, full duplex mode", 1.0),
        ("10GbaseT - Four-pair Category 6A or better", 10.0), ("10GigBaseX - X PCS/PMA", 10.0), ("2p5GigT - 2.5", 2.5),
        ("400GbaseSR16 - PHY", 400.0), ("unknown", None), ("", None), ("0BaseT", None), ("Fiber", None),
    ],
)  # fmt: skip
def test_speeds(text: str, gigabits: float | None) -> None:
    assert rate_of(text) == (None if gigabits is None else gigabits * 1e9 / 8)


def test_hosts_with_several_interfaces() -> None:
    """A bond to one switch is a wider link; interfaces to two switches are two networks, of which one is said."""
    bond = record(
        "n0", heard("eth0", "leaf", "p0", forwards=True), heard("eth1", "leaf", "p1", forwards=True)
    )
    other = record(
        "n1", heard("eth0", "leaf", "p2", forwards=True), heard("mgmt", "office", "7", forwards=True)
    )
    third = record(
        "n2", heard("eth0", "leaf", "p3", forwards=True), heard("mgmt", "office", "8", forwards=True)
    )
    assert "host 'n1' is wired by eth0 to 'leaf' and by mgmt to 'office'; planned is one network" in refused(
        bond, other, third
    )
    described = merged(bond, other, third, interface="eth*")
    assert links(described) == {"leaf n0": 50, "leaf n1": 25, "leaf n2": 25}
    assert links(merged(bond, other, third, without=["office"])) == links(described)
    assert "is not wired by what --interface names" in refused(bond, other, third, interface="ib*")


def test_hosts_that_forward_frames() -> None:
    """Containers make a host a bridge; what nobody can pass is left out, and said."""
    leaf = record(
        "leaf", *(heard(f"p{host}", f"n{host}.site.org", "eth0", forwards=host == 2) for host in range(3))
    )
    described = merged(leaf)
    assert [host.name for host in described.hosts] == ["n0.site.org", "n1.site.org"]
    assert "left out, as no message passes it: 1 node (n2.site.org); say --hosts" in described.notes[0]
    assert len(merged(leaf, hosts=["n0", "n1", "n2"]).hosts) == 3
    printer = record("leaf", *(heard(f"p{host}", f"n{host}", "eth0") for host in range(4)))
    assert [host.name for host in merged(printer, hosts=["n0", "n2", "n3"]).hosts] == ["n0", "n2", "n3"]
    assert "--hosts: 'n9' is heard by none" in refused(leaf, hosts=["n9"])
    assert "--without: 'n9' is heard by none" in refused(leaf, without=["n9"])
    all_forward = record("leaf", *(heard(f"p{host}", f"n{host}", "eth0", forwards=True) for host in range(3)))
    spine = record("n0", heard("eth0", "leaf", "p0", forwards=True))
    assert "all say that they forward frames" in refused(spine, all_forward)


def test_names() -> None:
    one, two = heard("p0", "n0", "e0"), heard("p1", "n0", "e0", ident="another")
    assert "leaf.json:" in (message := refused(record("leaf", one, two)))
    assert "two nodes are called 'n0': chassis 'mac another', and 'mac id of n0' at leaf.json:" in message
    same = heard("p1", "renamed", "e1", ident="id of n0")
    assert "chassis 'mac id of n0' is called 'renamed', and 'n0' at" in refused(record("leaf", one, same))
    leaf = record("leaf", heard("p0", "n0.a.org", "e0"), heard("p1", "n0.b.org", "e0"))
    host = record("n0", heard("e0", "leaf", "p0", forwards=True))
    assert "'n0' may be 'n0.a.org' or 'n0.b.org'" in refused(leaf, host)
    twice = (
        record("x/n1", heard("e0", "leaf", "p0", forwards=True)),
        record("y/n1", heard("e0", "leaf", "p0")),
    )
    assert "y/n1.json: is what 'n1' hears, as x/n1.json is" in refused(*twice)


def test_a_card_that_sends_frames_of_its_own() -> None:
    """Firmware sends no name. It is passed over where the host is heard, too, and else known by what the host hears."""
    card = heard("p0", "", "aa:bb", ident="aa:bb")
    leaf = record("leaf", heard("p0", "n0", "e0"), card, heard("p1", "", "cc:dd", ident="cc:dd"))
    host = record("n1", heard("e0", "leaf", "p1", forwards=True))
    described = merged(leaf, host)
    assert [node.name for node in described.hosts] == ["n0", "n1"] and not described.notes
    alone = merged(leaf)
    assert [node.name for node in alone.hosts] == ["mac cc:dd", "n0"]
    assert "no name is told of 1 host (mac cc:dd)" in alone.notes[0]


def test_refusals() -> None:
    hub = record("leaf", heard("p0", "n0", "e0"), heard("p0", "n1", "e0"), heard("p1", "n2", "e0"))
    assert "'leaf' hears 'n0' and 'n1' on p0: something between them hands frames on" in refused(hub)
    assert "leaf.json:" in refused(hub)
    leaf = record("leaf", heard("p0", "n0", "e0"), heard("p1", "n1", "e0"))
    assert "n5.json: 'n5' hears no neighbour, and none hears it" in refused(leaf, record("n5"))
    assert "is no output of lldpctl" in refused(("n.json", "{}"))
    assert "is no output of lldpctl" in refused(("n.json", "[1]"))
    assert "is cut off" in refused(
        ("n.json", '{"local-chassis": {"chassis": {"n0": {"id": {"value": "x"}}}}}')
    )
    assert "a chassis has no id" in refused(("n.json", '{"lldp": {"interface": {"e0": {"port": {}}}}}'))
    _, text = leaf
    for end in range(5, len(text) - 1, 97):
        assert "n.json" in refused(("n.json", text[:end]))


@settings(derandomize=True, deadline=None, database=None, max_examples=60,
          suppress_health_check=[HealthCheck.function_scoped_fixture])  # fmt: skip
@given(data=st.data())
def test_any_tree_is_found_again(data: st.DataObject) -> None:
    """Whichever ends tell of a cable, and in whatever order the files come."""
    switches = data.draw(st.integers(1, 6))
    above = [data.draw(st.integers(0, number - 1)) for number in range(1, switches)]
    hosts = [data.draw(st.integers(0, switches - 1)) for _ in range(data.draw(st.integers(2, 8)))]
    hosts += [number for number in range(switches) if number not in hosts]  # none leads nowhere
    wires = [(f"s{upper}", f"s{lower}") for lower, upper in enumerate(above, 1)]
    wires += [(f"s{switch}", f"n{host}") for host, switch in enumerate(hosts)]
    told: dict[str, list[dict[str, Any]]] = {}
    for number, (a, b) in enumerate(wires):
        ends = data.draw(st.sampled_from([(a,), (b,), (a, b)]))
        for me, other in ((a, b), (b, a)):
            if me in ends:
                entry = heard(f"{me}-{number}", other, f"{other}-{number}", forwards=other[0] == "s")
                told.setdefault(me, []).append(entry)
    files = data.draw(st.permutations([record(node, *entries) for node, entries in told.items()]))
    named = [f"n{host}" for host in range(len(hosts))]
    found = merged(*files, hosts=named)
    assert set(links(found)) == {" ".join(sorted(wire)) for wire in wires} and found.shape == "tree"
    assert [node.name for node in found.hosts] == named
