"""The lab as a fabric of routers: ports decide ways, seeds change them, and everybody reaches everybody."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from hocket.errors import NetworkError, UsageError
from hocket.lab import Lab, LabOptions, namespaces
from hocket.lab.cluster import check_network
from hocket.network import read_network_description
from hocket.network.path_probe import Probe
from probes import asked

needs_root = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("nsenter") is None, reason="the lab needs root and nsenter (util-linux)"
)
FABRIC = "fat-tree:2x2x2@50Mbit"
SPINES = {"10.255.0.3", "10.255.0.4"}


@pytest.mark.lab
@needs_root
def test_ports_decide_ways() -> None:
    ports = [Probe("10.0.0.3", 33000 + index, 28000, 2) for index in range(12)]
    fabric = read_network_description(FABRIC)
    ways = []
    for seed in (1, 2):
        with Lab.up(fabric, LabOptions(ecmp=True, ecmp_seed=seed)) as lab:
            ways.append(asked(lab, "n0", ports))
            assert asked(lab, "n0", ports) == ways[-1]
            first, beyond = asked(
                lab, "n0", [Probe("10.0.0.3", 33000, 28000, 1), Probe("10.0.0.3", 33000, 28000, 9)]
            )
            assert (first, beyond) == ("10.255.0.1", None)
    assert set(ways[0]) == set(ways[1]) == SPINES
    assert ways[0] != ways[1]


@pytest.mark.lab
@needs_root
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv (util-linux)")
def test_no_rights_are_needed() -> None:
    ports = [Probe("10.0.0.3", 33000 + index, 28000, 2) for index in range(4)]
    with Lab.up(read_network_description(FABRIC), LabOptions(ecmp=True, ecmp_seed=1)) as lab:
        drop = "setpriv --no-new-privs --bounding-set=-all --inh-caps=-all"
        assert asked(lab, "n0", ports, drop) == asked(lab, "n0", ports)
        state = lab.call("n0", [*drop.split(), "grep", "CapBnd", "/proc/self/status"], capture=True)
        assert state.output.split()[-1].strip("0") == ""


@pytest.mark.lab
@needs_root
def test_a_router_that_says_nothing() -> None:
    with Lab.up(read_network_description(FABRIC), LabOptions(ecmp=True, ecmp_seed=1)) as lab:
        ports = [Probe("10.0.0.3", 33000 + index, 28000, 2) for index in range(6)]
        heard = asked(lab, "n0", ports)
        silent = next(node for node in lab.state.nodes if node.name == "s2")
        namespaces.inside(
            lab.state.net(silent),
            lambda: Path("/proc/sys/net/ipv4/icmp_ratelimit").write_text("100000000", encoding="ascii"),
        )
        assert asked(lab, "n0", ports) == [None if way == "10.255.0.3" else way for way in heard]


def test_a_tree_is_wanted_without_ecmp() -> None:
    fabric = read_network_description(FABRIC)
    check_network(fabric, ecmp=True)
    with pytest.raises(NetworkError, match="--ecmp"):
        check_network(fabric)
    with pytest.raises(UsageError, match="--ecmp-seed"):
        LabOptions(ecmp_seed=1).check()
