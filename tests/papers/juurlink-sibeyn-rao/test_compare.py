"""The comparison of gossip algorithms: its table, what it compares, and what is refused."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hocket._papers import gossip

from hocket.network import read_network

sys.path.insert(0, str(Path(__file__).parents[3] / "papers" / "juurlink-sibeyn-rao"))
from compare import compared, grid_of, main, parameters, told


def names(plans: list[gossip.Plan]) -> list[str]:
    return [plan.name for plan in plans]


def test_table() -> None:
    title, header, *rows, verdict = told([8, 8], 16).splitlines()
    assert title == "8×8 torus, r = 16; bound 63.75"
    assert header.split() == ["algorithm", "parameters", "steps", "volume", "time", "time/bound"]
    assert rows[0].split() == ["HighDimGos'", "3;", "3^1,", "approach", "1", "7", "20.00", "132.00", "2.07"]
    assert rows[-1].startswith("StrideGos (links shared)")
    assert verdict.startswith("executed HighDimGos': 7 steps") and verdict.endswith("as the formula says")
    assert len({len(row) for row in [header, *rows]}) == 1


def test_every_algorithm() -> None:
    found = compared([81], 16)
    assert names(found["strict"]) == ["CircGos", "approach 2", "approach 1"]
    assert names(found["shared"]) == ["StrideGos"]
    for plan in found["strict"] + found["shared"]:
        assert plan.bound == pytest.approx(111.5, abs=0.05)
        assert plan.time == pytest.approx(16 * plan.steps + plan.volume)
        assert plan.ratio == pytest.approx(plan.time / plan.bound)
    best = found["strict"][0]
    assert parameters(best) == "9; 3^2 3^2"
    proof = gossip.prove([81], best)
    assert proof["complete"] and proof["link_disjoint"] and proof["problem"] == ""
    assert (proof["steps"], proof["strict_volume"]) == (best.steps, pytest.approx(best.volume))


def test_half_duplex() -> None:
    both, one = compared([8, 8], 16), compared([8, 8], 16, half_duplex=True)
    best = one["strict"][0]
    assert one["shared"] == [] and gossip.prove([8, 8], best, half_duplex=True)["ports_respected"]
    assert best.bound == 9 * 16 + 2 * 63 > both["strict"][0].bound
    assert best.time > both["strict"][0].time
    assert "approach 11 black/white" in names(one["strict"])
    assert all(plan.ratio >= 1 for plan in one["strict"])


@pytest.mark.parametrize(
    ("network", "sides", "title"),
    [
        ("hypercube:4", [2] * 4, "2×2×2×2 mesh, r = 2; "),
        ("mesh:3x5", [3, 5], "3×5 mesh, "),
        ("mesh:7", [7], "linear array of 7, "),
    ],
)
def test_a_hypercube_and_meshes(network: str, sides: list[int], title: str) -> None:
    assert grid_of(read_network(network)) == (sides, False)
    text = told(sides, 2, wraparound=False)
    assert text.startswith(title) and text.endswith("as the formula says")
    assert compared(sides, 2, wraparound=False)["shared"] == []


@pytest.mark.parametrize("half_duplex", [False, True])
def test_one_processor_has_nothing_to_do(half_duplex: bool) -> None:
    found = compared([1], 16, half_duplex=half_duplex)
    assert found["strict"][0].bound == 0
    assert all(plan.time == 0 for plan in found["strict"] + found["shared"])
    assert told([1], 16, half_duplex=half_duplex).endswith("as the formula says")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        *(([network, "--ratio=1"], "rings, tori, meshes and hypercubes") for network in ("tree:2x2x3", "star:6")),
        *((["torus:8", f"--ratio={ratio}"], "r must be a number of at least 0") for ratio in ("-1", "nan", "inf")),
    ],
)  # fmt: skip
def test_other_networks_and_senseless_ratios_are_refused(arguments: list[str], says: str) -> None:
    with pytest.raises(SystemExit, match=says):
        main(arguments)
