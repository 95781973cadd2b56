"""``hocket network discover`` and ``--forwarding`` without the tools."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hocket.cli import discover
from hocket.network import read_known_network, read_network_description
from refusals import refused

EXAMPLES = Path(__file__).parents[2] / "examples" / "networks"
DISC, FTS = EXAMPLES / "infiniband-disc.txt", EXAMPLES / "infiniband-fts.txt"
Call = Callable[..., Any]


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Programs of the tools' names that print given files, or fail."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(discover, "_SYSTEM", ())

    def put(**scripts: str) -> None:
        for name, script in scripts.items():
            path = folder / name
            path.write_text(f"#!/bin/sh\n{script}\n")
            path.chmod(0o755)

    return put


def test_what_the_tools_print_becomes_a_network(
    tmp_path: Path, hocket: Call, tools: Callable[..., None]
) -> None:
    tools(ibnetdiscover=f"exec /bin/cat {DISC}", dump_fts=f"exec /bin/cat {FTS}")
    answer = hocket(
        "network", "discover", "--infiniband", "-o", tmp_path / "net.toml", "--keep", tmp_path / "kept"
    )
    assert answer.code == 0, answer
    assert "InfiniBand: a graph of 16 hosts, 6 switches, 24 links, 96 forwarding entries" in answer.out
    assert (tmp_path / "kept" / "dump_fts.txt").read_text() == FTS.read_text()
    plain = hocket("plan", "all-to-all", "--network", DISC, "--forwarding", FTS, "--json").object()
    again = hocket("plan", "all-to-all", "--network", tmp_path / "net.toml", "--json").object()
    assert plain["contention_free"] and plain["phases"] == again["phases"] == plain["bound_phases"]


def test_refusals(tmp_path: Path, hocket: Call, tools: Callable[..., None]) -> None:
    def discovered(*words: object) -> Any:
        return hocket("network", "discover", *words, "-o", tmp_path / "net.toml")

    refused(
        discovered(),
        "one source is needed, and none or several are given; give --measure, --infiniband, --slurm or --lldp FILE...",
    )
    refused(discovered("--infiniband"), "ibnetdiscover is not installed; install infiniband-diags")
    tools(ibnetdiscover=f"exec /bin/cat {DISC}")
    refused(discovered("--infiniband"), "dump_fts is not installed; install infiniband-diags")
    tools(dump_fts="echo ibpanic: no such device >&2; exit 255")
    refused(
        discovered("--infiniband"),
        "dump_fts: failed with exit code 255: ibpanic: no such device; run it where",
    )
    tools(dump_fts="exit 0")
    refused(discovered("--infiniband"), "dump_fts: failed with exit code 0: no output")
    tools(dump_fts=f"/usr/bin/head -c 900 {FTS}")
    answer = discovered("--infiniband")
    refused(answer, "output of dump_fts:", "is cut off", "(--keep FOLDER keeps the output)")
    refused(discovered("--infiniband", "--forwarding", FTS), "leave --forwarding out")
    refused(discovered("--infiniband", "--names", tmp_path / "none"), "no such file")
    refused(hocket("network", "discover", "--infiniband", "-o", tmp_path / "net"), "is not a TOML file")
    assert not (tmp_path / "net.toml").exists()


BLOCKS = """\
BlockName=b1 BlockIndex=0 Nodes=n[1-4] BlockSize=4
BlockName=b2 BlockIndex=1 Nodes=n[5-8] BlockSize=4
BlockName=b3 BlockIndex=2 Nodes= BlockSize=4
AggregatedBlock=b[1-2] BlockIndex=3 Nodes=n[1-8] BlockSize=8
"""
TORUS = """\
TorusName=pod Dims=2x2x3 Nodes=n[1-12]
  TorusName=pod PlacementDims=2x2x1(4) Anchors=3
"""
PLACED = """\
%YAML 1.1
---
- topology: t
  cluster_default: true
  flat: false
  tree: {}
  torus3d:
    toruses:
    - name: pod
      dims: {x: 2, y: 2, z: 3}
      nodes: n[7-12,1-6]
...
"""


@pytest.mark.parametrize(("topology", "topoconf", "told", "first", "said"), [
    (BLOCKS, "", "a tree of 8 hosts, 4 switches, 11 links", "n1", "without hosts: 2 blocks (b3, blocks of 8 #2)"),
    ("RingName=r Nodes=n[3-8],n[1-2] RingSize=8\n", "", "a torus of 8 hosts, 0 switches, 8 links", "n3", ""),
    (TORUS, "", "a torus of 12 hosts, 0 switches", "n1", "the hosts of a torus is taken for that of their places"),
    (TORUS, PLACED, "a torus of 12 hosts, 0 switches", "n7", ""),
    ("SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[1-3] \nSwitchName=s2 Level=0 LinkSpeed=1 Nodes= \n"
     "SwitchName=s0 Level=1 LinkSpeed=1 Nodes=n[1-3] Switches=s[1-2] \n", "",
     "a tree of 3 hosts, 2 switches, 4 links", "n1", "without hosts: 1 switch (s2)"),
])  # fmt: skip
def test_what_scontrol_prints_becomes_a_network(
    tmp_path: Path, hocket: Call, tools: Callable[..., None],
    topology: str, topoconf: str, told: str, first: str, said: str,
) -> None:  # fmt: skip
    """``topology`` lists the hosts of a torus in the order of slurm.conf, ``topoconf`` in that of their
    places."""
    for name, text in (("topology", topology), ("topoconf", topoconf)):
        (tmp_path / name).write_text(text)
    tools(scontrol=f"test -s {tmp_path}/$2 || exit 1; exec /bin/cat {tmp_path}/$2")
    answer = hocket("network", "discover", "--slurm", "-o", tmp_path / "net.toml", "--keep", tmp_path)
    assert answer.code == 0, answer
    assert f"Slurm: {told}" in answer.out and (said in answer.err if said else "hocket:" not in answer.err)
    known = read_known_network(str(tmp_path / "net.toml"))
    assert known.network.names[known.network.hosts[0]] == first
    kept = read_network_description(str(tmp_path / "scontrol.txt"))
    assert kept.build().names[kept.build().hosts[0]] == first


def test_another_topology_than_slurms_default(
    tmp_path: Path, hocket: Call, tools: Callable[..., None]
) -> None:
    """Scontrol's ``show topology`` prints the default one alone."""
    tree = PLACED.replace("- topology: t\n  cluster_default: true", "- topology: fabric")
    (tmp_path / "topology").write_text("No topology information available\n")
    (tmp_path / "topoconf").write_text(tree.replace("---\n", "---\n- topology: all\n  flat: true\n"))
    tools(scontrol=f"exec /bin/cat {tmp_path}/$2")
    discover = ("network", "discover", "--slurm", "-o", tmp_path / "net.toml")
    refused(hocket(*discover), "output of scontrol:4: the topology is flat", "--topology fabric")
    answer = hocket(*discover, "--topology", "fabric")
    assert answer.code == 0 and "Slurm: a torus of 12 hosts" in answer.out, answer
    (tmp_path / "topoconf").write_text("No configuration\n")
    refused(hocket(*discover, "--topology", "fabric"), "scontrol: tells no switches: No configuration")


def test_files_of_lldpd_become_a_network(tmp_path: Path, hocket: Call) -> None:
    recorded, output = Path(__file__).parents[1] / "network" / "recorded" / "lldp", tmp_path / "net.toml"
    answer = hocket("network", "discover", "--lldp", recorded, "-o", output)
    assert answer.code == 0 and "LLDP: a tree of 4 hosts, 3 switches, 6 links" in answer.out
    told = hocket(
        "network", "discover", "--lldp", *sorted(recorded.iterdir()), "-o", output, "--json"
    ).object()
    assert (told["source"], told["hosts"], told["uplinks"]["provenance"]) == ("lldp", 4, "stated")
    assert hocket("plan", "all-to-all", "--network", output, "--json").object()["contention_free"]
    part = hocket(
        "network",
        "discover",
        "--lldp",
        recorded,
        "--without",
        "n3",
        "--hosts",
        "n[0-2]",
        "-o",
        output,
        "--json",
    )
    assert part.object()["hosts"] == 3

    def discovered(*words: object) -> Any:
        return hocket("network", "discover", *words, "-o", tmp_path / "none.toml")

    refused(discovered("--lldp"), "--lldp needs files; record one on each host and switch")
    (tmp_path / "empty").mkdir()
    refused(discovered("--lldp", tmp_path / "empty"), "holds no *.json")
    refused(discovered("--lldp", recorded / "n0.json", "--keep", tmp_path), "--keep is not for --lldp")
    refused(discovered("--slurm", "--hosts", "n0"), "--hosts is not for --slurm")
    refused(discovered("--slurm", recorded), "--slurm reads no files")
    refused(discovered("--lldp", recorded, "--hosts", "n["), "--hosts: unbalanced bracket")
    refused(
        discovered("--lldp", recorded / "none.json"),
        "none.json: no such file; name what lldpctl -f json prints",
    )
    refused(
        discovered("--lldp", recorded / "n0.json", recorded / "n2.json"),
        "host 'n0' leads to no other host by what is told; give the files of the switches",
    )
    assert not (tmp_path / "none.toml").exists()


def test_the_order_of_libraries_is_told(hocket: Call) -> None:
    routed = ("--network", DISC, "--forwarding", FTS)
    assert re.search("^library .*ring", hocket("plan", "all-to-all", *routed).out, re.MULTILINE)
    assert "rabenseifner" in hocket("plan", "all-reduce", *routed).out
    large = hocket("plan", "all-to-all", "--network", "fat-tree:8x20x10")
    assert "library     " in large.out and "x the bound)" in large.out
    found = hocket("plan", "all-reduce", "--network", "fat-tree:8x20x10", "--json").object()
    assert {each["name"] for each in found["library"]} == {"ring"}  # 160 is no power of two


def test_forwarding_by_names(tmp_path: Path, hocket: Call) -> None:
    rows = ["at,to,next", *(f"s{leaf},*,s{2 + leaf % 2}" for leaf in range(2)), "s2,*,s0", "s3,*,s0"]
    (tmp_path / "rows.csv").write_text("\n".join(rows) + "\n")
    answer = hocket("network", "show", "fat-tree:2x2x2", "--forwarding", tmp_path / "rows.csv")
    refused(
        answer, "rows.csv:2: messages from 'n0' to 'n2' run in a circle: s0 -> s2 -> s0; correct this step"
    )
