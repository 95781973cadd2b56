"""hocket network convert: what is read again is the same network, or a part with the same paths."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hocket import _core
from hocket.cli import cli
from hocket.errors import NetworkError
from hocket.network import (
    Defaults,
    Link,
    NetworkDescription,
    read_known_network,
    read_network,
    read_network_description,
)
from hocket.network.chosen import cut
from hocket.network.writer import network_files
from refusals import refused

EXAMPLES = Path(__file__).parents[2] / "examples" / "networks"
FILES = sorted(path for path in EXAMPLES.iterdir() if path.suffix in (".toml", ".conf", ".yaml", ".xml"))
SHORT = ["star:1", "chain:3,2,2*2@100Mbit,50us", "torus:4x3/up", "mesh:3x3", "hypercube:3", "fat-tree:k=4",
         "fat-tree:2x2x2", "dragonfly:3x2x2"]  # fmt: skip
modest = settings(
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@dataclass
class Answer:
    code: int
    out: str
    err: str


Convert = Callable[..., Answer]


@pytest.fixture
def convert(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Convert:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def convert(*arguments: object, given: str = "") -> Answer:
        words = ["network", "convert", *map(str, arguments)]
        result = CliRunner().invoke(cli, words, input=given, prog_name="hocket")
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
        return Answer(result.exit_code, result.stdout, result.stderr)

    return convert


def spec(network: _core.Network) -> dict[str, Any]:
    """All that a network is."""
    fields = ("shape", "names", "ranks_per_node", "links", "sides", "ties", "next_hops")
    wires = [(network.rate(c), network.latency(c)) for c in range(network.channels)]
    return {**{field: getattr(network, field) for field in fields}, "wires": wires}


def written(network: _core.Network, directory: Path) -> _core.Network:
    """The network, written and read again."""
    for path, text in network_files(network, str(directory / "n.toml")).items():
        Path(path).write_text(text, encoding="utf-8")
    return read_network(str(directory / "n.toml"))


def paths(network: _core.Network) -> dict[tuple[str, str], list[tuple[str, float, float]]]:
    """Between every two hosts: the channels by name, with rate and latency."""
    first, rank = {}, 0
    for host in network.hosts:
        first[network.names[host]] = rank
        rank += network.ranks_per_node[host]
    return {
        (a, b): [
            (network.channel_name(c), network.rate(c), network.latency(c))
            for c in network.route(first[a], first[b])
        ]
        for a in first
        for b in first
        if a != b
    }


def check_part(whole: NetworkDescription, names: list[str], directory: Path) -> _core.Network:
    """The part has just these hosts, in order, with the paths of the whole, also when it is read again."""
    of_whole = whole.build()
    part = cut(whole, names).build()
    assert [part.names[host] for host in part.hosts] == [h.name for h in whole.hosts if h.name in names]
    expected = {pair: path for pair, path in paths(of_whole).items() if set(pair) <= set(names)}
    assert paths(part) == expected
    assert spec(written(part, directory)) == spec(part)
    return part


@st.composite
def trees(draw: st.DrawFn) -> NetworkDescription:
    """Switches and hosts in any order, rates and latencies of which no unit holds all digits."""
    seed = random.Random(draw(st.integers(0, 2**32)))
    switches = draw(st.integers(1, 8))
    result = NetworkDescription(source="random")
    nodes = [(f"s{i}", 0) for i in range(switches)]
    nodes += [(f"n{i}", seed.choice([1, 1, 2, 5])) for i in range(draw(st.integers(1, 12)))]
    seed.shuffle(nodes)
    for name, ranks in nodes:
        result.add_host(name, ranks) if ranks else result.add_switch(name)
    ends = [(f"s{i}", f"s{seed.randrange(i)}") for i in range(1, switches)]
    ends += [(name, f"s{seed.randrange(switches)}") for name, ranks in nodes if ranks]
    seed.shuffle(ends)
    for a, b in ends:
        a, b = seed.sample([a, b], 2)
        rate = seed.choice([125e6, 1e9 / 3, seed.uniform(1e3, 1e12)])
        result.links.append(Link(a, b, rate, seed.choice([0.0, 5e-6, seed.uniform(0, 10)])))
    return result


@st.composite
def graphs(draw: st.DrawFn) -> NetworkDescription:
    """A tree with more links, some twice."""
    result = draw(trees())
    result.shape = "graph"
    switches = [node.name for node in result.nodes if not node.is_host]
    for _ in range(draw(st.integers(0, 8)) if len(switches) > 1 else 0):
        seed = random.Random(draw(st.integers(0, 2**32)))
        a, b = seed.sample(switches, 2)
        result.links.append(Link(a, b, seed.choice([125e6, 1e9])))
    return result


def some_hosts(data: st.DataObject, network: NetworkDescription) -> list[str]:
    hosts = [host.name for host in network.hosts]
    return data.draw(st.lists(st.sampled_from(hosts), min_size=1, unique=True))


@modest
@given(network=trees() | graphs())
def test_any_network_is_read_again(tmp_path: Path, network: NetworkDescription) -> None:
    built = network.build()
    assert spec(written(built, tmp_path)) == spec(built)


@modest
@given(data=st.data(), network=trees() | graphs())
def test_any_part_keeps_its_paths(tmp_path: Path, data: st.DataObject, network: NetworkDescription) -> None:
    check_part(network, some_hosts(data, network), tmp_path)


@modest
@given(data=st.data(), network=trees())
def test_nothing_of_a_part_can_go(tmp_path: Path, data: st.DataObject, network: NetworkDescription) -> None:
    """Every link of a part of a tree is on a path between two of its hosts."""
    part = check_part(network, some_hosts(data, network), tmp_path)
    used = {
        channel // 2 for a in range(part.ranks) for b in range(part.ranks) for channel in part.route(a, b)
    }
    assert used == set(range(len(part.links)))


@pytest.mark.parametrize("source", [*map(str, FILES), *SHORT], ids=lambda source: Path(source).name)
def test_every_network_is_converted(convert: Convert, tmp_path: Path, source: str) -> None:
    output = tmp_path / "converted.toml"
    answer = convert(source, "-o", output)
    network = read_network(source)
    if network.shape.name == "routed":
        refused(answer, "explicit routes has no form", "keep its SimGrid platform")
        assert not output.exists()
        return
    assert answer.code == 0, answer
    assert f"wrote {output}" in answer.out
    assert spec(read_network(str(output))) == spec(network)


@pytest.mark.parametrize(
    "name",
    [
        "figure1.toml",
        "ranks.toml",
        "two-spines.toml",
        "forwarding.toml",
        "fat-tree.conf",
        "topology.yaml",
        "cluster.xml",
        "fat-tree.xml",
    ],
)
def test_parts_of_examples(tmp_path: Path, name: str) -> None:
    known = read_known_network(str(EXAMPLES / name))
    hosts = [host.name for host in known.description.hosts]
    for part in (hosts[:1], hosts[::2], hosts[1:-1], [hosts[-1], hosts[0]], hosts):
        check_part(known.description, part, tmp_path)


def test_routes_are_kept_by_tables_where_others_would_be_chosen(tmp_path: Path) -> None:
    """Routing by numbers would reach n1 by the second spine."""
    whole = read_network_description(str(EXAMPLES / "forwarding.toml"))
    part = check_part(whole, ["n0", "n1", "n4"], tmp_path)
    assert part.next_hops


def test_corrected_uplinks_are_written(convert: Convert, tmp_path: Path) -> None:
    output = tmp_path / "corrected.toml"
    source = str(EXAMPLES / "topology.conf")
    assert convert(source, "--oversubscription", "2", "--rate", "10Gbit", "-o", output).code == 0
    known = read_known_network(str(output))
    assert known.uplinks.text == "uplinks: 40 Gbit/s each, as stated"
    defaults = Defaults(rate=1.25e9, oversubscription=(2,))
    assert spec(known.network) == spec(read_known_network(source, defaults).network)
    assert "\n# uplinks: 40 Gbit/s each, by --oversubscription\n" in output.read_text()


def test_an_assumption_stays_one(convert: Convert) -> None:
    answer = convert(EXAMPLES / "topology.conf")
    assert "\n# host rates: assumed 1 Gbit/s (not stated)" in answer.out
    assert "\n# uplinks: assumed as fast as a host's link" in answer.out
    rates, uplinks = answer.err.splitlines()
    assert rates.startswith("host rates: assumed 1 Gbit/s")
    assert uplinks.startswith("uplinks: assumed as fast as a host's link")


def test_ranks_are_left_open(tmp_path: Path) -> None:
    """--ranks-per-host counts for a file that was written where nobody had said any."""
    for source in ("tree:2x2", "torus:3x3"):
        for path, text in network_files(read_network(source), str(tmp_path / "new.toml"), "").items():
            Path(path).write_text(text)
        open_yet = read_known_network(str(tmp_path / "new.toml"), Defaults(ranks=2)).network
        assert open_yet.ranks == 2 * len(open_yet.hosts)


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("n[0-1,20]", ""),
        ("n20,n1,n0,n1", ""),
        ("-", "n[0-1]\nn20\n"),
        ("-", "n0:4\nn1.cluster.example slots=2\n# no\nn20"),
    ],
)
def test_a_job_has_its_hosts(convert: Convert, tmp_path: Path, text: str, given: str) -> None:
    source = EXAMPLES / "fat-tree.conf"
    answer = convert(source, "--hosts", text, given=given)
    assert answer.code == 0, answer
    output = tmp_path / "job.toml"
    output.write_text(answer.out)
    network = read_network(str(output))
    assert network.names == ["leaf0", "n0", "n1", "leaf1", "n20", "spine"]
    assert [network.rate(2 * link) for link in range(5)] == [125e6] * 3 + [16 * 125e6] * 2
    hosts = tmp_path / "hosts"
    hosts.write_text(given or text)
    assert re.sub("(?m)^#.*\n", "", convert(source, "--hosts", f"@{hosts}").out) == re.sub(
        "(?m)^#.*\n", "", answer.out
    )


def test_the_network_from_standard_input(convert: Convert) -> None:
    answer = convert("-", "--hosts", "n[0-2]", given=(EXAMPLES / "fat-tree.conf").read_text())
    assert answer.code == 0 and answer.out.count("[[host]]") == 3


@pytest.mark.parametrize(
    ("hosts", "says"),
    [
        ("n[0-1,70]", "--hosts: no host of the network is called 'n70'; did you mean 'n"),
        ("leaf0", "--hosts: no host of the network is called 'leaf0'"),
        ("n0:4", "--hosts: no host of the network is called 'n0:4'; did you mean"),
        ("n[3-1]", "--hosts: the range '3-1' runs backwards"),
        ("n[0-", "unbalanced bracket"),
        ("n[0-99999999]", "more than 200,000 names"),
        ("", "--hosts is empty"),
        ("@", "--hosts @ names no file; write --hosts @FILE"),
        ("@nowhere", "nowhere: no such file; name a file with a host list on each line"),
        ("-", "standard input:2: no host of the network is called 'm1'"),
    ],
)
def test_what_is_no_host(convert: Convert, tmp_path: Path, hosts: str, says: str) -> None:
    output = tmp_path / "n.toml"
    refused(convert(EXAMPLES / "fat-tree.conf", "--hosts", hosts, "-o", output, given="n0\nm1\n"), says)
    assert not output.exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["torus:4x4", "--hosts", "h0-0"], "torus:4x4: in a torus messages travel through other hosts"),
        (["star:4", "-o", "network.xml"], "-o network.xml is not a TOML file; name it FILE.toml"),
        (["star:4", "--json"], "--json and the network would both go to standard output; add -o FILE.toml"),
        (["star:4", "-o", "nowhere/n.toml"], "there is no directory nowhere"),
        ([EXAMPLES / "forwarding.toml"], "this network takes 2 files; name the first: -o FILE.toml"),
        (["star:0"], "is not a star"),
    ],
)
def test_what_cannot_be(convert: Convert, arguments: list[object], says: str) -> None:
    refused(convert(*arguments), says)


@pytest.mark.parametrize("source", ["torus:4", str(EXAMPLES / "two-clusters.xml")])
def test_what_has_no_parts(source: str) -> None:
    description = read_network_description(source)
    with pytest.raises(NetworkError, match="cannot be cut") as caught:
        cut(description, ["n0"])
    assert caught.value.remedy


def test_json(convert: Convert, tmp_path: Path) -> None:
    output = tmp_path / "n.toml"
    answer = convert("tree:2x3@1Gbit", "--hosts", "n[0-3]", "-o", output, "--json")
    assert answer.code == 0
    assert read_network(str(output)).ranks == 4
    assert json.loads(answer.out) == {
        "source": "tree:2x3@1Gbit", "shape": "tree", "hosts": 4, "switches": 3, "links": 6, "ranks": 4,
        "files": [str(output)],
        "host_rates": {"provenance": "stated", "text": "host rates: 1 Gbit/s, as stated"},
        "uplinks": {"provenance": "stated", "text": "uplinks: 1 Gbit/s each, as stated"},
    }  # fmt: skip


def test_an_old_file_stays_whole(convert: Convert, tmp_path: Path) -> None:
    output = tmp_path / "n.toml"
    output.write_text("old")
    assert convert("star:4", "--hosts", "m0", "-o", output).code == 2
    assert output.read_text() == "old"
    assert convert("star:4", "-o", output).code == 0
    assert [path.name for path in tmp_path.iterdir() if "n.toml" in path.name] == ["n.toml"]
