"""Several roots without a wire between them: each component on its own, and nothing across."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from hocket.cli import cli
from hocket.cli.sort import sort
from hocket.errors import NetworkError
from hocket.network import (
    Link,
    NetworkDescription,
    read_components,
    read_known_network,
    read_network,
    read_network_description,
)
from hocket.network.chosen import job_hosts
from hocket.network.neighbours import components_of
from refusals import refused

TWO = """\
SwitchName=a Nodes=n[0-3]
SwitchName=b Nodes=n[4-6]
SwitchName=c Nodes=m[0-2]
SwitchName=t Switches=a,b
"""
NO_LINK = "no path leads from 'n0' to 'm"
modest = settings(derandomize=True, deadline=None, database=None, max_examples=60)


@dataclass
class Answer:
    code: int
    out: str
    err: str


Call = Callable[..., Answer]


@pytest.fixture
def hocket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("SLURM_JOB_NODELIST", raising=False)

    def call(*arguments: object) -> Answer:
        command, words = (sort, arguments[1:]) if arguments[0] == "hocket-sort" else (cli, arguments)
        result = CliRunner().invoke(command, [str(a) for a in words], prog_name="hocket")
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
        return Answer(result.exit_code, result.stdout, result.stderr)

    return call


@pytest.fixture
def two(tmp_path: Path) -> str:
    path = tmp_path / "topology.conf"
    path.write_text(TWO)
    return str(path)


def test_each_component_is_a_network(two: str) -> None:
    first, second = (known.network for known in read_components(two))
    assert first.names == ["a", "n0", "n1", "n2", "n3", "b", "n4", "n5", "n6", "t"]
    assert second.names == ["c", "m0", "m1", "m2"]
    assert (first.ranks, second.ranks) == (7, 3)


@modest
@given(seed=st.integers(0, 10**6), components=st.integers(1, 4))
def test_components_of_random_trees(seed: int, components: int) -> None:
    """Switches and hosts of several trees in any order come apart as they were put together."""
    draw = random.Random(seed)
    nodes, links, expected = [], [], []
    for component in range(components):
        switches = [f"s{component}.{i}" for i in range(draw.randint(1, 4))]
        hosts = [f"n{component}.{i}" for i in range(draw.randint(1, 5))]
        links += [Link(name, draw.choice(switches[:i])) for i, name in enumerate(switches) if i]
        links += [Link(draw.choice(switches), host) for host in hosts]
        nodes += [(name, 0) for name in switches] + [(name, 1) for name in hosts]
        expected.append({*switches, *hosts})
    draw.shuffle(nodes)
    draw.shuffle(links)
    whole = NetworkDescription(links=links)
    for name, ranks in nodes:
        whole.add_host(name) if ranks else whole.add_switch(name)
    parts = components_of(whole)
    assert sorted(({node.name for node in part.nodes} for part in parts), key=min) == sorted(
        expected, key=min
    )
    order = [name for name, _ in nodes]
    for part in parts:
        names = [node.name for node in part.nodes]
        assert names == sorted(names, key=order.index)
        assert part.build().ranks == len(part.hosts)


@pytest.mark.parametrize(
    ("hosts", "first"),
    [(["n0", "n6"], "a"), (["m1"], "c"), (["m1", "login", "n9"], "c")],
)
def test_the_component_of_a_job(two: str, hosts: list[str], first: str) -> None:
    assert read_known_network(two, hosts=hosts).network.names[0] == first


@pytest.mark.parametrize(
    ("hosts", "says"),
    [
        ([], "'n0' to 'm0'"),
        (["login"], "'n0' to 'm0'"),
        (["m2", "n5"], "in several components: no path leads from 'n5' to 'm2'"),
    ],
)
def test_no_wires_are_invented(two: str, hosts: list[str], says: str) -> None:
    with pytest.raises(NetworkError, match="the network has 2 components") as caught:
        read_known_network(two, hosts=hosts)
    assert says in str(caught.value) and "hocket network convert" in caught.value.remedy


@pytest.mark.parametrize(
    "text",
    [
        "SwitchName=a Nodes=n[0-1]\nSwitchName=b Switches=c\nSwitchName=c Switches=d\n"
        "SwitchName=d Switches=b\n",
        "SwitchName=a Nodes=n[0-1]\nSwitchName=b Switches=c\nSwitchName=c Switches=b\n",
    ],
)
def test_an_component_without_hosts_is_a_mistake(tmp_path: Path, text: str) -> None:
    path = tmp_path / "topology.conf"
    path.write_text(text)
    with pytest.raises(NetworkError, match=r"not connected|cycle"):
        read_network(str(path))


def test_show(hocket: Call, two: str) -> None:
    answer = hocket("network", "show", two)
    assert "component 1 of 2: 7 hosts, n0 to n6; no link leads to the others" in answer.out
    assert "component 2 of 2: 3 hosts, m0 to m2" in answer.out
    components = json_of(hocket("network", "show", two, "--json"))["components"]
    assert [len(component["hosts"]) for component in components] == [7, 3]
    assert [component["uplinks"]["provenance"] for component in components] == ["assumed", "none"]


def json_of(answer: Answer) -> dict[str, Any]:
    assert answer.code == 0, answer
    parsed: dict[str, Any] = json.loads(answer.out)
    return parsed


@pytest.mark.parametrize("pattern", ["all-to-all", "all-gather"])
def test_plan(hocket: Call, two: str, pattern: str) -> None:
    answer = hocket("plan", pattern, "--network", two)
    assert answer.code == 0
    assert answer.out.count("verified: contention-free, complete") == 2
    assert answer.out.count("no link leads to the others") == 2
    components = json_of(hocket("plan", pattern, "--network", two, "--json"))["components"]
    assert [component["ranks"] for component in components] == [7, 3]
    assert components[1]["host_names"] == ["m0", "m1", "m2"]


@pytest.mark.parametrize(
    "command",
    [
        "plan all-to-all --rank 1 --network",
        "plan all-to-all -o plan.hkt --network",
        "plan all-gather --dump dump.csv --network",
        "simulate --network",
        "network convert",
    ],
)
def test_what_is_of_one_network_is_refused(hocket: Call, two: str, command: str) -> None:
    refused(hocket(*command.split(), two), NO_LINK, "--hosts")
    assert not Path("plan.hkt").exists()


def test_convert_takes_one(hocket: Call, two: str, tmp_path: Path) -> None:
    output = tmp_path / "job.toml"
    assert hocket("network", "convert", two, "--hosts", "m[0-1]", "-o", output).code == 0
    assert read_network(str(output)).names == ["c", "m0", "m1"]
    refused(
        hocket("network", "convert", two, "--hosts", "n0,m1"), "the hosts are in several components", "'m1'"
    )


def test_run_is_refused_before_anything_starts(
    hocket: Call, two: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = tmp_path / "started"
    program = [sys.executable, "-c", f"open({str(started)!r}, 'w')"]
    refused(hocket("run", "--network", two, "-n", 2, *program), NO_LINK, "--hosts")
    monkeypatch.setenv("SLURM_JOB_NODELIST", "n0,m[1-2]")
    refused(hocket("run", "--network", two, "-n", 2, *program), "in several components")
    assert not started.exists()


def test_run_takes_the_component_of_the_job(hocket: Call, two: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rank 3 would be on the fourth place, which only the other component has."""
    monkeypatch.setenv("SLURM_JOB_NODELIST", "m[0-2]")
    answer = hocket("run", "--network", two, "-n", 4, "--placement", "order", sys.executable, "-c", "0")
    refused(answer, "4 ranks do not fit on the 3 places")


def test_hosts_of_a_job(tmp_path: Path) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("m0:4\n# nobody\nm1.cluster.example slots=2\n")
    assert job_hosts({"SLURM_JOB_NODELIST": "n[0-1]"}, str(hosts)) >= {"m0", "m1", "m1.cluster.example"}
    assert job_hosts({"SLURM_JOB_NODELIST": "n[0-1]"}, None) == {"n0", "n1"}
    assert job_hosts({}, None) == job_hosts({"SLURM_JOB_NODELIST": "n["}, None) == set()
    assert job_hosts({}, str(tmp_path / "nowhere")) == set()


def test_a_network_in_one_piece_is_taken_as_it_is() -> None:
    description = read_network_description("tree:2x3")
    assert components_of(description)[0] is description
    assert read_known_network("tree:2x3", hosts=["elsewhere"]).network.ranks == 6


def test_sort_takes_the_component_of_its_hostfile(hocket: Call, two: str, tmp_path: Path) -> None:
    np.save(tmp_path / "in.npy", np.arange(8))
    hosts = tmp_path / "hosts"
    hosts.write_text("m0\nm1\nm2\n")
    files = (tmp_path / "in.npy", tmp_path / "out.npy")
    begin = ("hocket-sort", "-n", 4, "--network", two, "--placement", "order")
    refused(hocket(*begin, *files), NO_LINK)
    refused(hocket(*begin, "--hostfile", hosts, *files), "4 ranks do not fit on the 3 places")


def test_hosts_that_nobody_has_wired_are_no_components(tmp_path: Path, hocket: Call) -> None:
    """Each was shown as a network of its own, 50,000 of them in half a minute."""
    path = tmp_path / "hosts.toml"
    path.write_text("".join(f'[[host]]\nname = "n{host}"\n' for host in range(8)))
    refused(
        hocket("network", "show", path),
        "8 hosts are wired to nothing",
        'add switch = "…" to each, or hosts = "n[0-7]" to a [[switch]]',
    )
    path.write_text('[[switch]]\nname = "s"\nhosts = "n[0-1]"\n[[host]]\nname = "a"\n[[host]]\nname = "x"\n')
    refused(
        hocket("plan", "all-to-all", "--network", path),
        ":5:",
        "2 hosts are wired to nothing",
        'hosts = "a,x"',
    )
    path.write_text('[[host]]\nname = "alone"\n')
    assert hocket("network", "show", path).code == 0
