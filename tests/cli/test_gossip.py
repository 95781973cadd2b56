"""hocket gossip: the table, its JSON, the pictures, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

COLUMNS = ["algorithm", "parameters", "steps", "volume", "time", "ratio"]


def report(hocket, network: str, *arguments: object) -> dict:
    answer = hocket("gossip", "--network", network, *arguments, "--json")
    assert (answer.code, answer.err) == (0, "")
    return answer.object()


def names(plans: list[dict]) -> list[str]:
    return [plan["algorithm"] for plan in plans]


def refused(answer, *says: str) -> None:
    assert answer.code == 2, answer
    assert answer.out == "" and answer.err.startswith("hocket: ") and answer.err.count("\n") == 1
    for part in says:
        assert part in answer.err


def test_table(hocket) -> None:
    answer = hocket("gossip", "--network", "torus:8x8", "--ratio", 16)
    assert (answer.code, answer.err) == (0, "")
    title, header, *rows, verdict = answer.out.splitlines()
    assert title == "8×8 torus, r = 16; bound 63.75"
    assert header.split() == ["algorithm", "parameters", "steps", "volume", "time", "time/bound"]
    assert rows[0].split() == ["HighDimGos'", "3;", "3^1,", "approach", "1", "7", "20.00", "132.00", "2.07"]
    assert rows[-1].startswith("StrideGos (links shared)")
    assert verdict.startswith("executed HighDimGos': 7 steps") and verdict.endswith("as the formula says")
    assert len({len(row) for row in [header, *rows]}) == 1


def test_json_has_every_algorithm(hocket) -> None:
    found = report(hocket, "torus:81", "--ratio", 16)
    assert list(found) == ["sides", "wraparound", "r", "bound", "strict", "shared", "proof"]
    assert (found["sides"], found["wraparound"], found["r"]) == ([81], True, 16)
    assert found["bound"] == pytest.approx(111.5, abs=0.05)
    assert names(found["strict"]) == ["CircGos", "approach 2", "approach 1"]
    assert names(found["shared"]) == ["StrideGos"]
    for plan in found["strict"] + found["shared"]:
        assert list(plan) == COLUMNS
        assert plan["time"] == pytest.approx(16 * plan["steps"] + plan["volume"])
        assert plan["ratio"] == pytest.approx(plan["time"] / found["bound"])
    best = found["strict"][0]
    assert best["parameters"] == "9; 3^2 3^2"
    proof = found["proof"]
    assert proof["complete"] and proof["link_disjoint"] and proof["problem"] == ""
    assert (proof["steps"], proof["strict_volume"]) == (best["steps"], pytest.approx(best["volume"]))


def test_r_comes_from_bytes_and_startup_unless_it_is_given(hocket) -> None:
    options = ("--bytes", "1000", "--startup", "10us")
    # 10 us at a gigabit per second are 1250 bytes.
    assert report(hocket, "torus:16@1Gbit", *options)["r"] == pytest.approx(1.25)
    assert report(hocket, "torus:16@1Gbit", *options, "--ratio", 3)["r"] == 3
    assert report(hocket, "torus:16", "--ratio", 0)["r"] == 0


def test_half_duplex(hocket) -> None:
    both = report(hocket, "torus:8x8", "--ratio", 16)
    one = report(hocket, "torus:8x8", "--ratio", 16, "--half-duplex")
    assert one["shared"] == [] and one["proof"]["ports_respected"]
    assert one["bound"] == 9 * 16 + 2 * 63 > both["bound"]
    assert one["strict"][0]["time"] > both["strict"][0]["time"]
    assert "approach 11 black/white" in names(one["strict"])
    assert all(plan["ratio"] >= 1 for plan in one["strict"])


def test_a_hypercube_and_a_mesh(hocket) -> None:
    cube = report(hocket, "hypercube:4", "--ratio", 2)
    assert (cube["sides"], cube["wraparound"]) == ([2] * 4, False)
    assert cube["proof"]["complete"] and cube["shared"] == []
    assert hocket("gossip", "--network", "hypercube:4").out.startswith("2×2×2×2 mesh, ")
    mesh = report(hocket, "mesh:3x5", "--ratio", 2)
    assert (mesh["sides"], mesh["wraparound"]) == ([3, 5], False)
    assert mesh["proof"]["complete"] and mesh["shared"] == []
    assert hocket("gossip", "--network", "mesh:7").out.startswith("linear array of 7, ")


@pytest.mark.parametrize("half_duplex", [(), ("--half-duplex",)])
def test_one_processor_has_nothing_to_do(hocket, half_duplex: tuple[str, ...]) -> None:
    found = report(hocket, "torus:1", *half_duplex)
    assert found["bound"] == 0 and found["proof"]["complete"]
    assert all(plan["time"] == 0 for plan in found["strict"] + found["shared"])
    answer = hocket("gossip", "--network", "torus:1", *half_duplex)
    assert answer.code == 0 and answer.out.endswith("as the formula says\n")


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_pictures(hocket, tmp_path: Path, suffix: str) -> None:
    times, regions = tmp_path / f"times.{suffix}", tmp_path / f"regions.{suffix}"
    answer = hocket("gossip", "--network", "torus:4x4x4", "--times", times, "--regions", regions)
    assert answer.code == 0
    assert answer.err == f"wrote {times}\nwrote {regions}\n"
    for path in (times, regions):
        assert path.read_bytes().startswith({"png": b"\x89PNG", "svg": b"<?xml"}[suffix])


def test_json_stays_json_with_a_picture(hocket, tmp_path: Path) -> None:
    answer = hocket("gossip", "--network", "torus:8", "--times", tmp_path / "a.svg", "--json")
    assert answer.code == 0 and answer.object()["sides"] == [8]


@pytest.mark.parametrize("network", ["tree:2x2x3", "star:6", "chain:3,2"])
def test_other_networks_are_refused(hocket, network: str) -> None:
    refused(
        hocket("gossip", "--network", network), network, "not a ring, torus, mesh or hypercube", "hocket plan"
    )


@pytest.mark.parametrize("ratio", ["-1", "nan", "inf", "1e13"])
def test_a_senseless_ratio_is_refused(hocket, ratio: str) -> None:
    refused(hocket("gossip", "--network", "torus:8", f"--ratio={ratio}"), "--ratio", "give a number from 0")


def test_times_of_one_processor_are_refused(hocket, tmp_path: Path) -> None:
    refused(hocket("gossip", "--network", "torus:1", "--times", tmp_path / "a.svg"), "nothing to send")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("option", ["--times", "--regions"])
def test_an_unknown_picture_format_is_refused(hocket, tmp_path: Path, option: str) -> None:
    refused(hocket("gossip", "--network", "torus:8", option, tmp_path / "a.doc"), "a.doc", ".svg")
    assert not list(tmp_path.iterdir())
