from __future__ import annotations

from collections.abc import Callable

import pytest

from hocket.network import NetworkDescription

Describe = Callable[[str], NetworkDescription]
Refused = Callable[[str], str]


def platform(body: str, routing: str = "Full") -> str:
    head = '<?xml version="1.0"?>\n<platform version="4.1">\n'
    return f'{head}<zone id="w" routing="{routing}">\n{body}\n</zone></platform>'


def cluster(more: str = "", name: str = "c", radical: str = "0-3") -> str:
    return (
        f'<cluster id="{name}" prefix="{name}-" suffix="" radical="{radical}" bw="125MBps" lat="5us" {more}/>'
    )


def routes(network: NetworkDescription) -> dict[tuple[str, str], list[str]]:
    assert network.routing is not None
    hosts = [host.name for host in network.hosts]
    names = [channel.name for channel in network.routing.channels]
    return {(hosts[a], hosts[b]): [names[c] for c in path] for a, b, path in network.routing.routes}


@pytest.mark.parametrize("more", ["", 'bb_bw="1" bb_sharing_policy="FATPIPE"', 'bb_bw="500MBps"'])
def test_a_flat_cluster_is_a_star(describe: Describe, more: str) -> None:
    network = describe(platform(cluster(more, radical="0-1,7")))
    assert network.shape == "tree"
    assert [node.name for node in network.nodes] == ["c-c_router", "c-0", "c-1", "c-7"]
    assert {(link.a, link.rate, link.latency) for link in network.links} == {("c-c_router", 125e6, 5e-6)}


def test_a_backbone_that_never_limits_keeps_its_latency(describe: Describe) -> None:
    network = describe(platform(cluster('bb_bw="1GBps" bb_lat="2us" bb_sharing_policy="FATPIPE"')))
    assert network.links[0].latency == pytest.approx(6e-6)


def test_a_narrow_backbone_is_shared_by_all(describe: Describe) -> None:
    network = describe(platform(cluster('bb_bw="250MBps" bb_lat="2us"')))
    assert routes(network)["c-0", "c-2"] == [
        "cluster link of c-0 up", "cluster backbone of c", "cluster link of c-2 down",
    ]  # fmt: skip


def test_half_duplex_links_are_one_channel(describe: Describe) -> None:
    network = describe(platform(cluster('sharing_policy="SHARED"')))
    assert routes(network)["c-0", "c-2"] == ["cluster link of c-0", "cluster link of c-2"]


def test_a_torus(describe: Describe) -> None:
    grid = describe(platform(cluster('topology="TORUS" topo_parameters="3,2"', radical="0-5"))).grid
    assert grid is not None
    assert (grid.kind, grid.sides) == ("torus", [2, 3])
    assert grid.names == [f"c-{i}" for i in range(6)]


def test_ties_of_a_torus_are_simgrids(describe: Describe) -> None:
    """Seen with SimGrid 3.32: from the coordinate in the middle down, from all others up."""
    grid = describe(platform(cluster('topology="TORUS" topo_parameters="8,3,4"', radical="0-95"))).grid
    assert grid is not None
    assert grid.sides == [4, 3, 8]
    assert grid.ties == ["++-+", "", "++++-+++"]


def test_a_side_of_1_adds_nothing_to_a_torus(describe: Describe) -> None:
    grid = describe(platform(cluster('topology="TORUS" topo_parameters="2,1,2"'))).grid
    assert grid is not None
    assert (grid.sides, grid.ties) == ([2, 2], ["", ""])


def test_a_fat_tree_with_one_parent_each_is_a_tree(describe: Describe) -> None:
    network = describe(platform(cluster('topology="FAT_TREE" topo_parameters="2;2,2;1,1;1,3"')))
    assert network.shape == "tree"
    assert [(link.a, link.b, link.rate / 125e6) for link in network.links] == [
        ("c_switch_1_0", "c-0", 1),
        ("c_switch_1_0", "c-1", 1),
        ("c_switch_1_1", "c-2", 1),
        ("c_switch_1_1", "c-3", 1),
        ("c_switch_2_0", "c_switch_1_0", 3),
        ("c_switch_2_0", "c_switch_1_1", 3),
    ]


def test_a_fat_tree_with_many_paths_is_a_graph(describe: Describe) -> None:
    network = describe(
        platform(cluster('topology="FAT_TREE" topo_parameters="3;2,2,2;1,2,2;1,1,1"', radical="0-7"))
    )
    assert network.shape == "graph"
    assert len(network.nodes) == 8 + 4 + 4 + 4
    parents: dict[str, set[str]] = {}
    for link in network.links:
        parents.setdefault(link.b, set()).add(link.a)
    assert parents["c_switch_1_0"] == parents["c_switch_1_1"] == {"c_switch_2_0", "c_switch_2_1"}
    assert parents["c_switch_2_0"] == parents["c_switch_2_2"] == {"c_switch_3_0", "c_switch_3_2"}
    assert parents["c_switch_2_1"] == parents["c_switch_2_3"] == {"c_switch_3_1", "c_switch_3_3"}


HOSTS = '<host id="a" speed="1Gf"/><host id="b" speed="1Gf"/><router id="r"/>\n'
LINKS = (
    '<link id="x" bandwidth="1GBps" latency="1us" sharing_policy="SPLITDUPLEX"/>'
    '<link id="y" bandwidth="2GBps" sharing_policy="SPLITDUPLEX"/>\n'
    '<link id="z" bandwidth="3GBps"/><link id="f" bandwidth="1GBps" sharing_policy="FATPIPE"/>\n'
)
AR = '<route src="a" dst="r"><link_ctn id="x" direction="UP"/></route>'
RB = '<route src="r" dst="b"><link_ctn id="y" direction="DOWN"/></route>'


@pytest.mark.parametrize("routing", ["Floyd", "Dijkstra", "DijkstraCache"])
def test_a_zone_of_switches_is_a_tree(describe: Describe, routing: str) -> None:
    network = describe(platform(HOSTS + LINKS + AR + RB, routing))
    assert network.shape == "tree"
    assert [(link.a, link.b, link.rate) for link in network.links] == [("a", "r", 1e9), ("r", "b", 2e9)]


def test_shared_links_make_it_routed(describe: Describe) -> None:
    network = describe(platform(HOSTS + LINKS + AR + RB.replace('"y"', '"z"'), "Floyd"))
    assert routes(network) == {("a", "b"): ["x up", "z"], ("b", "a"): ["z", "x down"]}


def test_full_routing(describe: Describe) -> None:
    path = '<link_ctn id="x" direction="UP"/><link_ctn id="f"/><link_ctn id="y_DOWN"/>'
    network = describe(platform(HOSTS + LINKS + f'<route src="a" dst="b">{path}</route>'))
    assert routes(network) == {("a", "b"): ["x up", "f", "y down"], ("b", "a"): ["y up", "f", "x down"]}
    assert network.routing is not None
    assert network.routing.channels[1].rate == 2e9


def test_one_way_routes(describe: Describe) -> None:
    text = '<route src="a" dst="b" symmetrical="NO"><link_ctn id="z"/></route>'
    back = '<route src="b" dst="a" symmetrical="NO"><link_ctn id="f"/></route>'
    assert routes(describe(platform(HOSTS + LINKS + text + back))) == {("a", "b"): ["z"], ("b", "a"): ["f"]}


def test_clusters_joined_by_zone_routes(describe: Describe) -> None:
    joint = (
        '<zoneRoute src="c" dst="d" gw_src="c-c_router" gw_dst="d-d_router"><link_ctn id="z"/></zoneRoute>'
    )
    network = describe(platform(cluster() + cluster('bb_bw="250MBps"', name="d") + LINKS + joint))
    assert routes(network)["d-1", "c-0"] == [
        "cluster link of d-1 up", "cluster backbone of d", "z", "cluster link of c-0 down",
    ]  # fmt: skip


def test_zones_within_zones(describe: Describe) -> None:
    inner = '<zone id="{0}" routing="Full"><host id="{0}h"/><router id="{0}r"/>'
    inner += '<route src="{0}h" dst="{0}r"><link_ctn id="{1}" direction="UP"/></route></zone>\n'
    joint = '<zoneRoute src="{0}" dst="{1}" gw_src="{0}r" gw_dst="{1}r"><link_ctn id="z"/></zoneRoute>\n'
    zones = "".join(inner.format(name, link) for name, link in (("p", "x"), ("q", "y"), ("s", "f")))
    text = platform(LINKS + zones + joint.format("p", "q") + joint.format("q", "s"), "Floyd")
    network = describe(text)
    assert routes(network)["ph", "qh"] == ["x up", "z", "y down"]
    assert routes(network)["sh", "ph"] == ["f", "z", "z", "x down"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<platform version='4.1'/>", "the platform has no hosts"),
        ("<platform version='3'/>", "1: platform version '3'; convert it with simgrid_update_xml"),
        ("<html/>", "1: <html> is not a SimGrid platform"),
        ("<platform>\n<zone></platform>", "2: is not XML"),
        ("<platform version='4.1'>" + "<zone id='a'>" * 1000, "1: is nested too deeply"),
        ("<!DOCTYPE p [<!ENTITY a 'aa'>]><platform>&a;</platform>", "declares an entity"),
        ("<platform><host id='a'/></platform>", "1: 'a' is in no zone"),
        (platform("<hots/>"), "4: <hots> is not understood; did you mean 'host'?"),
        (platform("<bypassRoute/>"), "4: <bypassRoute> is not understood"),
        (platform("", "Vivaldi"), "3: routing 'VIVALDI' is not understood"),
        (platform(HOSTS), "3: zone 'w' has no route from 'a' to 'b'"),
        (
            platform(HOSTS + LINKS + RB.replace('"y"', '"z"'), "Floyd"),
            "3: zone 'w' has no route from 'a' to 'b'",
        ),
        (platform(HOSTS + HOSTS), "5: 'a' is defined twice, first at"),
        (platform(LINKS + LINKS), "6: link 'x' is defined twice, first in line 4"),
        (platform(HOSTS + LINKS + AR + "\n" + AR), "8: the route from 'a' to 'r' is defined twice"),
        (platform(HOSTS + AR), "5: no link is called 'x'"),
        (platform(LINKS + AR), "6: host or router 'a' is not in zone 'w'"),
        (platform('<link id="x"/>'), "4: <link> has no bandwidth"),
        (platform('<link id="x" bandwidth="fast"/>'), "4: 'fast' is not a rate"),
        (platform('<link id="x" bandwidth="1Gbps" sharing_policy="WIFI"/>'), "4: sharing_policy 'WIFI'"),
        (platform(cluster() + "\n" + cluster()), "5: 'c' is defined twice"),
        (platform(cluster(radical="a")), "4: radical 'a' is not a list of numbers"),
        (platform(cluster(radical="0-9999999")), "4: the host list"),
        (platform(cluster(radical="1,1")), "4: host 'c-1' is in the cluster twice"),
        (platform(cluster('limiter_link="1"')), "4: limiter_link is not understood"),
        (platform(cluster('topology="DRAGONFLY"')), "4: topology 'DRAGONFLY' is not understood"),
        (platform(cluster('topology="TORUS" topo_parameters="3,2"')), "4: topo_parameters ask for 6 hosts"),
        (platform(cluster('topology="TORUS" topo_parameters="0"')), "4: topo_parameters '0' are not numbers"),
        (platform(cluster('topology="FAT_TREE" topo_parameters="2;2"')), "4: topo_parameters of a fat tree"),
        (
            platform(cluster('topology="FAT_TREE" topo_parameters="1;4,1;1;1"')),
            "4: topo_parameters do not give 1",
        ),
        (
            platform(cluster('topology="FAT_TREE" topo_parameters="2;2,2;9999,9999;1,1"')),
            "4: a fat tree of 100,000,003 nodes",
        ),
        (
            platform(cluster('topology="TORUS" topo_parameters="4"') + HOSTS),
            "4: a TORUS cluster is understood only",
        ),
        (
            platform(cluster('bb_bw="1MBps"', radical="0-999")),
            "this platform needs explicit routes between 1,000",
        ),
    ],
)
def test_mistakes(refused: Refused, text: str, message: str) -> None:
    assert refused(text).startswith(message)
