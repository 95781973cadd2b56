"""``hocket plan … --compare``."""

from __future__ import annotations

from pathlib import Path

import pytest

from hocket import _core
from refusals import refused


def able(network_ranks: str, hocket) -> list[str]:
    """Algorithms that a refusal names as able to serve an all-to-all there."""
    told = hocket("plan", "all-to-all", "--network", network_ranks, "--algorithm", "product").err
    return told.strip().rpartition(": ")[2].split(", ")


@pytest.mark.parametrize("collective", ["all-to-all", "all-gather", "all-reduce", "broadcast", "gather"])
def test_every_algorithm_that_can_serve(hocket, collective: str) -> None:
    plan = ("plan", collective, "--network", "chain:3,3", "--bytes", "64KiB")
    compared = hocket(*plan, "--compare", "--json").object()
    reports = compared["algorithms"]
    names = [report["algorithm"] for report in reports]
    assert len(names) == len(set(names)) > 1
    times = [report["predicted_seconds"] for report in reports]
    assert times == sorted(times)
    assert compared["chosen"] == hocket(*plan, "--json").object()["algorithm"] in names
    for report in reports:
        alone = hocket(*plan, "--algorithm", report["algorithm"], "--json").object()
        assert (alone["phases"], alone["predicted_seconds"]) == (
            report["phases"],
            report["predicted_seconds"],
        )
    text = hocket(*plan, "--compare").out
    assert [line.split()[0] for line in text.splitlines()[-1 - len(names) : -1]] == names
    assert text.splitlines()[-1] == f"auto takes '{compared['chosen']}'"


def test_all_to_alls_are_compared_with_all_that_can(hocket) -> None:
    reports = hocket("plan", "alltoall", "--network", "star:5", "--compare", "--json").object()["algorithms"]
    assert {report["algorithm"] for report in reports} == set(able("star:5", hocket))


def test_irregular_exchanges(hocket, tmp_path: Path) -> None:
    demand = tmp_path / "a.csv"
    demand.write_text("0,100,200\n300,0,0\n0,400,5\n")
    answer = hocket("plan", "irregular", "--network", "star:3", "--demand", demand, "--compare")
    known = [one.name for one in _core.Algorithm.all() if one.pattern == "irregular"]
    assert answer.code == 0 and sum(line.split()[0] in known for line in answer.out.splitlines()) == len(
        known
    )


@pytest.mark.parametrize(
    "option",
    [("-o", "p.hkt"), ("--dump", "p.csv"), ("--rank", "0"), ("--two-level",), ("--algorithm", "tree")],
)
def test_options_for_one_schedule(hocket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option) -> None:
    monkeypatch.chdir(tmp_path)
    answer = hocket("plan", "all-to-all", "--network", "star:4", "--compare", *option)
    refused(
        answer, "--compare plans by every algorithm, and --", "asks for one schedule; leave out --compare"
    )
    assert list(tmp_path.iterdir()) == []
