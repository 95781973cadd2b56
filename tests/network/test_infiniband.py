"""Outputs of ibnetdiscover and dump_fts: recorded with the real tools, and spoilt."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hocket.errors import NetworkError
from hocket.network import Defaults, read_known_network, read_network_description
from hocket.network.readers.ibnetdiscover import LANE_RATES, natural

EXAMPLES = Path(__file__).parents[2] / "examples" / "networks"
RECORDED = Path(__file__).parent / "recorded"
DISC = (EXAMPLES / "infiniband-disc.txt").read_text()
FTS = (EXAMPLES / "infiniband-fts.txt").read_text()
LMC_DISC = (RECORDED / "lmc-disc.txt").read_text()
LMC_FTS = (RECORDED / "lmc-fts.txt").read_text()
Edit = Callable[[str], str]


def known(folder: Path, disc: str, fts: str | None = None):  # type: ignore[no-untyped-def]
    (folder / "disc.txt").write_text(disc)
    if fts is None:
        return read_known_network(str(folder / "disc.txt"))
    (folder / "fts.txt").write_text(fts)
    return read_known_network(str(folder / "disc.txt"), Defaults(forwarding=str(folder / "fts.txt")))


def refusal(folder: Path, disc: str, fts: str | None = None) -> str:
    """The message, with file names as given and its one remedy."""
    with pytest.raises(NetworkError) as caught:
        known(folder, disc, fts)
    assert caught.value.remedy and caught.value.where is not None
    text = str(caught.value).replace(f"{folder}/", "")
    assert "\n" not in text and len(text) < 1500
    return text


def line_of(text: str, begin: str) -> int:
    return next(number for number, line in enumerate(text.split("\n"), 1) if line.startswith(begin))


def test_hosts_and_switches_are_named_by_their_descriptions_and_sorted() -> None:
    description = read_network_description(str(EXAMPLES / "infiniband-disc.txt"))
    names = [node.name for node in description.nodes]
    assert names == [f"leaf{i}" for i in range(4)] + ["spine0", "spine1"] + [f"n{i}" for i in range(16)]
    assert (description.shape, len(description.links)) == ("graph", 24)
    assert {link.rate for link in description.links} == {25e9}
    assert {link.latency for link in description.links} == {0.3e-6}
    assert description.nodes[0].where is not None
    assert description.nodes[0].where.line == line_of(DISC, 'Switch\t36 "S-0000000000200000"')


def test_a_latency_that_the_user_states_counts() -> None:
    stated = Defaults(latency=5e-6, latency_given=True)
    description = read_network_description(str(EXAMPLES / "infiniband-disc.txt"), stated)
    assert {link.latency for link in description.links} == {5e-6}


def test_messages_take_the_installed_routes(tmp_path: Path) -> None:
    network = known(tmp_path, DISC, FTS).network
    entries = re.findall(r"^Unicast.*\((leaf0)\):\n(?:.*\n){2}((?:0x.*\n)*)", FTS, re.MULTILINE)
    (_, table) = entries[0]
    spines = {5: "spine0", 6: "spine1"}
    seen = set()
    for port, host in re.findall(
        r"^0x[0-9a-f]{4} (\d{3}) : \(Channel Adapter .*: 'n(\d+) ", table, re.MULTILINE
    ):
        way = (
            [network.channel_name(channel) for channel in network.route(0, int(host))] if host != "0" else []
        )
        if int(port) in spines:
            assert way[1] == f"leaf0->{spines[int(port)]}"
            seen.add(int(port))
    assert seen == {5, 6}
    assert len(network.next_hops) == 16 * 6


def test_entries_by_name_do_the_same(tmp_path: Path) -> None:
    network = known(tmp_path, DISC, FTS).network
    names, ends = network.names, [end for a, b in network.links for end in ((a, b), (b, a))]
    rows = [f"{names[at]},{names[to]},{names[ends[channel][1]]}" for at, to, channel in network.next_hops]
    again = known(tmp_path, DISC, "at,to,next\n" + "\n".join(rows) + "\n").network
    assert again.next_hops == network.next_hops


def test_the_first_port_with_a_lid_of_a_host_with_several(tmp_path: Path) -> None:
    found = known(tmp_path, LMC_DISC, LMC_FTS)
    assert [host.name for host in found.description.hosts] == ["a1", "a2", "b9", "b10"]
    assert "2 of 4 hosts have several ports" in found.description.notes[0]
    links = {(link.a, link.b): link.rate for link in found.description.links}
    left, right = "MF0;left:MQM8700/U1", "MF0;right:MQM8700/U1"
    assert links == {
        ("a1", left): 25e9, ("a2", left): 25e9, (left, right): 12.5e9, ("b10", right): 25e9, ("b9", right): 4e9,
    }  # fmt: skip
    assert len(found.description.links) == 6  # two cables between the switches
    # Base lids count, not those of lmc: a2 (8) and b9 (14) by the first cable, b10 (12) by the second.
    routes = [found.network.route(0, dst)[1] // 2 for dst in (2, 3)]
    assert routes[0] != routes[1]
    down = LMC_DISC.replace("lid 2 lmc 1", "lid 0 lmc 0")
    assert "S-0000000000200000[2]" not in down
    second = known(tmp_path, down).description
    assert list(second.fabric.host_lids.values()) == [6, 8, 14, 12]


@pytest.mark.parametrize(("speed", "gbit"), [
    ("1xSDR", 2), ("4xSDR", 8), ("4xDDR", 16), ("4xQDR", 32), ("4xFDR10", 40), ("4xFDR", 4 * 14.0625 * 64 / 66),
    ("4xEDR", 100), ("2xHDR", 100), ("4xHDR", 200), ("4xNDR", 400), ("8xNDR", 800), ("4xXDR", 800), ("12xQDR", 96),
])  # fmt: skip
def test_speeds_are_those_of_data(tmp_path: Path, speed: str, gbit: float) -> None:
    description = known(tmp_path, DISC.replace("4xHDR", speed)).description
    assert [link.rate for link in description.links] == pytest.approx([gbit * 1e9 / 8] * 24)


def test_ends_that_differ_go_at_the_lower_rate(tmp_path: Path) -> None:
    line = line_of(DISC, "[1](100001)")
    lines = DISC.split("\n")
    lines[line - 1] = lines[line - 1].replace("4xHDR", "1xHDR")
    rates = [link.rate for link in known(tmp_path, "\n".join(lines)).description.links]
    assert sorted(rates)[:2] == [6.25e9, 25e9]


def test_a_tree_stays_a_tree_and_its_tables_are_checked(tmp_path: Path) -> None:
    disc, fts = (RECORDED / "star-disc.txt").read_text(), (RECORDED / "star-fts.txt").read_text()
    network = known(tmp_path, disc, fts).network
    assert (network.shape.name, network.next_hops) == ("tree", [])
    assert "hands messages to host 'n2' (lid 3) over to host 'n1'" in refusal(
        tmp_path, disc, fts.replace("0x0003 002", "0x0003 001")
    )


@pytest.mark.parametrize("spoil", [
    lambda text: text.replace("\n", "\r\n"),
    lambda text: re.sub(r"(4xHDR)", r"\1 s=4 w=2 v=4", text),  # ibnetdiscover -f
    lambda text: "\nNon-Chassis Nodes\n" + text.replace("[5]\t", "[5][ext 17]\t"),  # -g
    lambda text: text.replace("mlx5_0", "HCA-1"),
    lambda text: text.replace('"n1 mlx5_0"', '"\'n1\' mlx5_0"'),
    lambda text: text.replace("n1 mlx5_0", 'n1 "north" # 1'),
])  # fmt: skip
def test_other_ways_to_say_the_same(tmp_path: Path, spoil: Edit) -> None:
    assert spoil(DISC) != DISC
    plain, other = known(tmp_path, DISC, FTS).network, known(tmp_path, spoil(DISC), FTS).network
    assert (other.names, other.next_hops) == (plain.names, plain.next_hops)


@pytest.mark.parametrize("spoil", [
    lambda text: re.sub(r"^(0x.{8}) : .*", r"\1 ", text, flags=re.MULTILINE),  # dump_fts -n
    lambda text: re.sub(r"^(0x.{8}) : \((.*)\)", r"\1 # \2", text, flags=re.MULTILINE)
    .replace("[0x0-0x16]", "[0-22]").replace("valid lids", "lids"),  # opensm-lfts.dump
    lambda text: text.replace("DR path slid 0; dlid 0; 0,1", "Lid 2"),  # ibroute
    lambda text: text.replace("Unicast", "0x0fff 255 : (illegal port)\nUnicast", 0) + "\n\n",
])  # fmt: skip
def test_other_ways_to_say_the_same_tables(tmp_path: Path, spoil: Edit) -> None:
    assert spoil(FTS) != FTS
    assert known(tmp_path, DISC, spoil(FTS)).network.next_hops == known(tmp_path, DISC, FTS).network.next_hops


ROUTER = """
vendid=0x0
devid=0x0
sysimgguid=0x300001
rtguid=0x300001
Rt\t1 "R-0000000000300001"\t\t# "to the other subnet"
[1](300002) \t"S-0000000000200004"[9]\t\t# lid 99 lmc 0 "spine0" lid 5 4xHDR
"""
AGGREGATION = """
caguid=0x300003
Ca\t1 "H-0000000000300003"\t\t# "Mellanox Technologies Aggregation Node"
[1](300004) \t"S-0000000000200004"[10]\t\t# lid 98 lmc 0 "spine0" lid 5 4xHDR
"""


def test_routers_and_adapters_of_switches_are_left_out(tmp_path: Path) -> None:
    spine = re.search(r'Switch\t36 "S-0000000000200004".*\n', DISC)
    assert spine is not None
    ports = (
        '[9]\t"R-0000000000300001"[1](300002) \t\t# "to the other subnet" lid 99 4xHDR\n'
        '[10]\t"H-0000000000300003"[1](300004) \t\t# "Mellanox Technologies Aggregation Node" lid 98 4xHDR\n'
    )
    disc = DISC.replace(spine[0], spine[0] + ports) + ROUTER + AGGREGATION
    found = known(tmp_path, disc, FTS)
    assert found.network.names == known(tmp_path, DISC, FTS).network.names
    assert found.description.notes == ["left out, as no program runs there: 1 router, 1 adapter of a switch"]


def test_a_second_plane_of_switches_is_left_out(tmp_path: Path) -> None:
    """Switches that no cable leads to from a host's first port; their tables are passed over."""
    disc = LMC_DISC.replace('# "MF0;left:MQM8700/U1" lid 4 4xEDR', '# "MF0;left:MQM8700/U1" lid 4 4xEDR')
    for line in re.findall(r'^\[[45]\]\t"S-.*\n', LMC_DISC, re.MULTILINE):
        disc = disc.replace(line, "")
    disc = re.sub(r"\nvendid=0x0\ndevid=0x0\nsysimgguid=0x10000[68](?:\n.+)*\n", "\n", disc)
    disc = re.sub(r'^\[[23]\]\t"H-000000000010000[68].*\n', "", disc, flags=re.MULTILINE)
    found = known(tmp_path, disc, LMC_FTS)
    assert found.network.names == ["MF0;left:MQM8700/U1", "a1", "a2"]


def without(text: str, pattern: str) -> str:
    changed = re.sub(pattern, "", text, flags=re.MULTILINE)
    assert changed != text
    return changed


def test_cables_with_one_end_are_refused(tmp_path: Path) -> None:
    cut = DISC[: DISC.index("caguid=0x100000")]
    line = line_of(DISC, '[1]\t"H-0000000000100000"')
    assert refusal(tmp_path, cut) == (
        f"disc.txt:{line}: port 1 of S-0000000000200000 is wired to H-0000000000100000, which is not listed: "
        "the file is cut off; run ibnetdiscover again, and dump_fts after it"
    )
    assert f"disc.txt:{line}: port 1 of S-" in refusal(tmp_path, without(DISC, r"^\[1\]\(100001\).*\n"))
    assert "which is not wired to it (line" in refusal(tmp_path, without(DISC, r"^\[1\]\(100001\).*\n"))


@pytest.mark.parametrize("at", range(40, len(DISC), 97))
def test_a_file_that_is_cut_off_is_refused(tmp_path: Path, at: int) -> None:
    if DISC[at:].strip() and not DISC[:at].endswith("4xHDR"):
        refusal(tmp_path, DISC[:at])


@pytest.mark.parametrize("at", range(20, len(FTS) - 3, 61))
def test_tables_that_are_cut_off_are_refused(tmp_path: Path, at: int) -> None:
    message = refusal(tmp_path, DISC, FTS[:at])
    assert message.startswith("fts.txt")


@pytest.mark.parametrize(("spoil", "says"), [
    (lambda t: t.replace("4xHDR", "4xABC", 1), "4xABC is no width and speed of a link; known are 1x, 2x, 4x"),
    (lambda t: t.replace("4xHDR", "5xHDR", 1), "5xHDR is no width and speed of a link"),
    (lambda t: t.replace("4xHDR", "4x???", 1), "4x??? is no width and speed of a link"),
    (lambda t: t.replace("n3 mlx5_0", "n2 mlx5_0"), "two adapters are described as 'n2 mlx5_0', H-"),
    (lambda t: t.replace("n3 mlx5_0", "MT4123 ConnectX6 Mellanox Technologies"), "does not begin with a host's name"),
    (lambda t: t.replace("n3 mlx5_0", ""), "does not begin with a host's name"),
    (lambda t: t + t[t.index("caguid=0x100000") :], "H-0000000000100000 is listed twice, first in line"),
    (lambda t: t.replace('[2]\t"H-', '[1]\t"H-', 1), "is listed twice; give the output of one ibnetdiscover"),
    (lambda t: t + "ibwarn: [1] mad_rpc: timed out\n", "is not a line of ibnetdiscover; leave standard error out"),
    (lambda t: t.replace('"S-0000000000200000"', '"S-00000000002000', 1), "is cut off or not understood"),
    (lambda t: re.sub(r"lid 5( lmc 0|(?= 4x))", r"lid 1\1", t), "lid 1 is given twice, first in line"),
    (lambda t: without(t, r"(?s)\nvendid=0x0\ndevid=0x0\nsysimgguid=0x1.*"), "which is not listed"),
])  # fmt: skip
def test_cables_that_make_no_sense(tmp_path: Path, spoil: Edit, says: str) -> None:
    changed = spoil(DISC)
    assert changed != DISC
    message = refusal(tmp_path, changed)
    assert says in message and re.match(r"disc\.txt:\d+: ", message)


def test_other_outputs_are_named(tmp_path: Path) -> None:
    assert "these are forwarding tables, no network; give them by --forwarding" in refusal(tmp_path, FTS)
    assert "lists cables, not forwarding tables; give it as --network" in refusal(tmp_path, DISC, DISC)
    listed = 'Ca\t : 0x0000000000100003 ports 2 devid 0x0 vendid 0x0 "n2 HCA-1"\n'
    assert "a list of nodes without cables; run ibnetdiscover without -l" in refusal(tmp_path, listed)
    assert "lists no node: it is cut off" in refusal(tmp_path, "#\n# Topology file: generated on Tue\n#\n")
    (tmp_path / "fts.txt").write_text(FTS)
    with pytest.raises(NetworkError, match="go by lids and ports, which the network file does not have"):
        read_known_network("star:4", Defaults(forwarding=str(tmp_path / "fts.txt")))
    with pytest.raises(NetworkError, match="the routes of a torus are its own"):
        read_known_network("torus:4x4", Defaults(forwarding=str(tmp_path / "fts.txt")))
    with pytest.raises(NetworkError, match="no such file; name a file with forwarding tables"):
        read_known_network("star:4", Defaults(forwarding=str(tmp_path / "none.txt")))


SECTION = r"^Unicast lids.*\({}\):\n(?:.*\n)*?\d+ valid lids dumped.*\n"


def in_table(switch: str, old: str, new: str) -> Edit:
    """Changes a table of one switch."""

    def edit(text: str) -> str:
        table = re.search(SECTION.format(switch), text, re.MULTILINE)
        assert table is not None
        changed = re.sub(old, new, table[0], count=1, flags=re.MULTILINE)
        assert changed != table[0]
        return text.replace(table[0], changed)

    return edit


@pytest.mark.parametrize(("spoil", "says"), [
    (lambda t: without(t, SECTION.format("leaf2")), "fts.txt: holds no table of 'leaf2', to which host 'n8' is wired"),
    (lambda t: without(t, SECTION.format("spine1")), "at 'spine1' the tables do not say where messages to"),
    (in_table("leaf0", r"^(0x.{4}) 005( : .*'n4 )", r"\1 255\2"), "the tables do not say where messages to 'n4'"),
    (in_table("spine0", r"^(0x.{4}) 002( : .*'n4 )", r"\1 001\2"), "messages from 'n0' to 'n4' run in a circle: "),
    (in_table("leaf1", r"^(0x.{4}) 001( : .*'n4 )", r"\1 255\2"), "the table of 'leaf1' has no entry for lid"),
    (in_table("leaf1", r"^(0x.{4}) 001( : .*'n4 )", r"\1 002\2"), "hands messages to host 'n4' (lid "),
    (in_table("leaf1", r"^(0x.{4}) 001( : .*'n4 )", r"\1 017\2"), "by its port 17, from which no cable leads"),
    (in_table("leaf1", r"^(0x.{4}) 001( : .*'n4 )", r"\1 000\2"), "by its port 0, from which no cable leads"),
    (in_table("leaf1", r"^(0x.*)\n", r"\1\n\1\n"), "'leaf1' has an entry for lid 1 already, in line"),
    (in_table("leaf1", r"^0x.*\n", ""), "the table of 'leaf1' has 21 lids here, not 22"),
    (in_table("leaf1", r"portguid 0x0000000000100001", "portguid 0x0000000000999999"), "but that of host 'n0' in"),
    (in_table("leaf1", r"guid 0x0000000000200001", "guid 0x0000000000299999"), "has the guid 0x0000000000299999"),
    (lambda t: t + t[: t.index("Unicast", 9)], "the table of 'leaf3' stands twice, first in line 1"),
    (in_table("leaf1", r"^.*dumped.*\n", ""), "is cut off: 'lids dumped' does not end it"),
    (lambda t: "ibwarn: [7] timed out\n" + t, "fts.txt:1: 'ibwarn: [7] timed out' is not a line of dump_fts"),
    (lambda t: t.replace("Unicast lids", "Multicast mlids", 2).replace("Multicast mlids", "Unicast lids", 1),
     "this is a table of multicasts"),
])  # fmt: skip
def test_tables_that_bring_messages_nowhere(tmp_path: Path, spoil: Edit, says: str) -> None:
    assert says in refusal(tmp_path, DISC, spoil(FTS))


def test_a_circle_is_told_with_its_line(tmp_path: Path) -> None:
    fts = in_table("spine0", r"^(0x.{4}) 002( : .*'n4 )", r"\1 001\2")(FTS)
    message = refusal(tmp_path, DISC, fts)
    line = int(message.split(":")[1])
    assert "'n4 mlx5_0'" in fts.split("\n")[line - 1]
    assert "let the subnet manager route again" in message


def test_a_host_without_a_lid(tmp_path: Path) -> None:
    disc = re.sub(r"lid \d+ lmc 0 \"leaf3\"", 'lid 0 lmc 0 "leaf3"', DISC)
    assert known(tmp_path, disc).network.ranks == 16  # by shortest paths
    line = line_of(disc, "[1](100019)")
    assert f"disc.txt:{line}: host 'n12' has no lid; let the subnet manager route again" in refusal(
        tmp_path, disc, FTS
    )


def test_the_last_lid_that_dump_fts_forgets(tmp_path: Path) -> None:
    """It does so where that is a multiple of 64."""
    last = max(int(lid, 16) for lid in re.findall(r"^0x(.{4}) \d{3} : \(Channel", FTS, re.MULTILINE))
    disc = re.sub(rf"lid {last}\b", "lid 64", DISC)
    fts = re.sub(rf"^0x{last:04x} .*\n", "", FTS, flags=re.MULTILINE)
    fts = re.sub(r"^(\d+) valid", lambda match: f"{int(match[1]) - 1} valid", fts, flags=re.MULTILINE)
    assert (
        "dump_fts leaves out the last lid where it is a multiple of 64: give the file opensm-lfts.dump"
        in refusal(tmp_path, disc, fts)
    )


def test_numbers_in_names_count() -> None:
    assert sorted(["n10", "n9", "a", "n1b", "n1a", "n01"], key=natural) == [
        "a",
        "n01",
        "n1a",
        "n1b",
        "n9",
        "n10",
    ]
    assert sorted(LANE_RATES.values()) == list(LANE_RATES.values())


TRAPS = [
    "",
    "0",
    "9" * 40,
    "lid",
    '"',
    "\x00",
    "[1]",
    "0x",
    "Unicast lids [0x0-0x9] of switch",
    "\n",
    "(",
    "S-",
    "4x",
    "¿",
]


def spoilt(draw: st.DrawFn, text: str) -> str:
    words = re.findall(r"\w+|\s+|[^\w\s]", text)
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, len(words) - 1))
        words[at] = draw(st.sampled_from([*TRAPS, words[at] * 2, *words[:: len(words) // 50]]))
    changed = "".join(words)
    lines = changed.split("\n")
    for _ in range(draw(st.integers(0, 3))):
        at, to = (draw(st.integers(0, len(lines) - 1)) for _ in range(2))
        lines[at], lines[to] = lines[to], lines[at]
    return "\n".join(lines)[: draw(st.sampled_from([None, None, draw(st.integers(0, len(changed)))]))]


@pytest.mark.parametrize("which", ["cables", "tables", "both"])
@given(data=st.data())
def test_mutated_outputs(tmp_path: Path, which: str, data: st.DataObject) -> None:
    """A network or one message with a remedy, whatever the files hold."""
    disc, fts = data.draw(st.sampled_from([(DISC, FTS), (LMC_DISC, LMC_FTS)]))
    draw = st.composite(spoilt)
    disc = data.draw(draw(disc)) if which != "tables" else disc
    fts = data.draw(draw(fts)) if which != "cables" else fts
    try:
        found = known(tmp_path, disc, fts)
    except NetworkError as problem:
        assert problem.remedy and problem.where is not None
        assert "\n" not in str(problem) and len(str(problem)) < 1500
        return
    network = found.network
    for src in range(network.ranks):
        for dst in range(network.ranks):
            assert src == dst or network.route(src, dst)
