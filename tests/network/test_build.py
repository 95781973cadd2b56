"""Errors that the core finds are reported with the place in the file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hocket.errors import NetworkError
from hocket.network import NetworkDescription, read_network

Describe = Callable[[str], NetworkDescription]

core: Any = pytest.importorskip("hocket._core")

TWO = "SwitchName=s0 Nodes=n[0-1]\nSwitchName=s1 Nodes=n[2-3]\n"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (TWO, None, "connected"),
        (TWO + "SwitchName=s2 Switches=s[0-1],s3\nSwitchName=s3 Switches=s[1-2]", None, "cycle"),
        ("SwitchName=s0 Nodes=n0 Switches=s1\nSwitchName=s1 Nodes=n1 Switches=s0", None, "cycle"),
        ("SwitchName=s0 Nodes=n[0-1] Switches=s0", 1, "linked to itself"),
        ('[[switch]]\nname="s"\nhosts="n[0-1]"\n[[link]]\na="n0"\nb="n1"', 4, "wired twice"),
        ('[[switch]]\nname="s"\nhosts="n[0-1]"\n[[host]]\nname="x"', 5, "not connected"),
        ('[[switch]]\nname="s"\nhosts="n[0-1]"\nhost_rate="0Gbit"', 3, "rate of 0"),
        ('[[switch]]\nname="s"\nhosts="n[0-1]"\nhost_rate="1000Tbit"', 3, "rate of"),
        ('[[switch]]\nname="s"\nhosts="n[0-1]"\nhost_latency="60s"', 3, "latency of 60"),
        ("[torus]\nsides=[2,2]\nrate='1bit'", None, "rate of"),
    ],
)
def test_mistakes(describe: Describe, text: str, line: int | None, message: str) -> None:
    description = describe(text)
    with pytest.raises(NetworkError, match=message) as caught:
        description.build()
    assert caught.value.where is not None
    assert caught.value.where.file == description.source
    assert line is None or caught.value.where.line == line
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("text", "ranks"),
    [
        ("star:24", 24),
        ("chain:8,8*2", 32),
        ("torus:8x4", 32),
        ("mesh:3x3", 9),
        ("hypercube:5", 32),
        ("tree:3x4", 12),
    ],
)
def test_short_forms(text: str, ranks: int) -> None:
    assert read_network(text).ranks == ranks


@pytest.mark.skipif(
    "names" not in (core.Network.grid.__doc__ or ""), reason="the core names the hosts of grids"
)
def test_a_grid_with_names_and_ranks(describe: Describe) -> None:
    network = describe(
        '<platform version="4.1"><zone id="z"><cluster id="c" prefix="p" suffix="" radical="1-6" '
        'bw="1GBps" lat="0" topology="TORUS" topo_parameters="3,2"/></zone></platform>'
    ).build()
    assert list(network.names) == [f"p{i}" for i in range(1, 7)]
    assert read_network("torus:4x4*2").ranks == 32
