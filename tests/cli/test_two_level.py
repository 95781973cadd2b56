"""Aggregates on the command line: planned, proven at both levels, predicted, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from hocket import _core
from refusals import refused

NETWORK = "chain:2,2,2*3@50Mbit"
MATRIX = "%%MatrixMarket matrix coordinate integer general\n18 18 3\n1 18 700\n2 4 9\n17 3 80\n"


@pytest.mark.parametrize("name", ["all-to-all", "all-gather", "all-reduce"])
def test_a_plan_of_aggregates_is_proven_at_both_levels(hocket, tmp_path: Path, name: str) -> None:
    path = tmp_path / "plan.hkt"
    answer = hocket("plan", name, "--network", NETWORK, "--bytes", 648, "--two-level", "-o", path, "--json")
    report = answer.object()
    assert report["contention_free"] and report["complete"]
    assert (report["ranks"], report["hosts"]) == (18, 6)
    assert report["messages"] < report["direct_messages"] / 4
    parts = [report[f"{part}_seconds"] for part in ("put", "between", "take")]
    assert report["predicted_seconds"] == pytest.approx(sum(parts)) and min(parts) > 0
    # The file is one of one rank a host, which the runtime's leaders take.
    assert _core.Plan.decode(path.read_bytes()).network.ranks == 6
    checked = hocket("verify", path, "--network", NETWORK, "--two-level", "--json").object()
    assert checked["ok"] and checked["two_level"] == {"ranks": 18, "memory_bytes": report["memory_bytes"]}
    assert hocket("verify", path, "--network", "chain:2,2,2@50Mbit").code == 0


def test_text_and_dump(hocket, tmp_path: Path) -> None:
    dump = tmp_path / "plan.csv"
    answer = hocket(
        "plan", "all-to-all", "--network", "chain:2,2,2@50Mbit", "--ranks-per-host", 3, "--bytes", 8,
        "--two-level", "--dump", dump,
    )  # fmt: skip
    assert answer.code == 0
    assert "both levels verified: contention-free, every byte to its target, once" in answer.out
    assert "predicted to be faster up to" in answer.out and "rank by rank" in answer.out
    assert dump.read_text().startswith("phase,src,dst,origin,target,offset,length\n")


def test_irregular_two_level(hocket, tmp_path: Path) -> None:
    demand = tmp_path / "some.mtx"
    demand.write_text(MATRIX)
    options = ("--network", NETWORK, "--demand", demand, "--two-level")
    report = hocket("plan", "irregular", *options, "--json").object()
    assert report["complete"] and report["bytes_between_hosts"] == 789 and report["messages"] == 3
    simulated = hocket("simulate", "--pattern", "irregular", *options, "--json").object()
    assert simulated["two_level"]["ranks"] == 18
    refused(hocket("plan", "irregular", *options, "-o", tmp_path / "p.hkt"), "what each rank sends")


def test_simulate(hocket) -> None:
    report = hocket("simulate", "--network", NETWORK, "--bytes", 64, "--two-level", "--json").object()
    assert report["hosts"] == report["ranks"] == 6  # between the hosts
    inside = report["two_level"]["put_seconds"] + report["two_level"]["take_seconds"]
    assert report["two_level"]["seconds"] == pytest.approx(report["predicted_seconds"] + inside)


def test_aggregates_are_candidates(hocket) -> None:
    report = hocket("plan", "all-to-all", "--network", NETWORK, "--bytes", 64, "--json").object()
    names = [one["name"] for one in report["forecast"]["candidates"]]
    assert {"two-level-1", "two-level-2", "two-level-order", "two-level-native", "two-level-leaders"} <= {
        *names
    }


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("plan", "all-to-all", "--network", "star:4", "--two-level"), "no host has several ranks"),
        (("plan", "all-to-all", "--network", NETWORK, "--two-level", "--rank", 0), "leaders carry"),
        (("simulate", "--network", NETWORK, "--pattern", "broadcast", "--two-level"), "not aggregated"),
    ],
)
def test_refused(hocket, arguments: tuple[object, ...], says: str) -> None:
    refused(hocket(*arguments), says)


def test_plans_that_are_not_of_one_rank_a_host(hocket, tmp_path: Path) -> None:
    plan = tmp_path / "plan.hkt"
    assert hocket("plan", "all-to-all", "--network", NETWORK, "-o", plan).code == 0
    refused(hocket("verify", plan, "--network", NETWORK, "--two-level"), "one rank a host")
    refused(hocket("verify", plan, "--network", "chain:2,2,2@50Mbit", "--two-level"), "nothing to aggregate")
