"""hocket plan: the contract for scripts, the dump, one rank's program."""

from __future__ import annotations

import csv
import os
import stat
from pathlib import Path

import numpy as np
import pytest

from contract import CONTRACT
from hocket import _core, plan
from hocket.network import read_network
from peak_memory import growth
from refusals import refused

MEASURED = ("plan_seconds", "verify_seconds", "peak_rss_bytes")
HEADER = "phase,src,dst,origin,target,offset,length"
PHASE, SRC, DST = range(3)


def columns(path: Path) -> np.ndarray:
    """A long dump, a row a transfer; what goes to everyone goes to -1."""
    head, _, body = path.read_text().partition("\n")
    assert head == HEADER
    return np.fromstring(body.replace("*", "-1").replace("\n", ","), np.int64, sep=",").reshape(
        -1, HEADER.count(",") + 1
    )


def of_rank(planned: np.ndarray, rank: int) -> np.ndarray:
    """The transfers of a schedule that a rank sends or receives."""
    return planned[(planned[:, SRC] == rank) | (planned[:, DST] == rank)]


def rows(path: Path) -> list[dict[str, int]]:
    lines = path.read_text().splitlines()
    assert lines[0] == HEADER
    return [{key: int(value) for key, value in row.items()} for row in csv.DictReader(lines)]


def test_json_has_the_contract(program) -> None:  # memory is counted for the whole process
    report = program(
        "plan", "all-to-all", "--network", "chain:8,8,8,8", "--bytes", "64KiB", "--json"
    ).object()
    assert [key for key in CONTRACT if key not in report] == []
    assert report["algorithm"] == "tree"
    assert (report["hosts"], report["ranks"], report["messages"]) == (32, 32, 992)
    assert report["phases"] == report["bound_phases"] == 256
    assert report["ratio"] == 1.0
    assert report["bound_seconds"] == pytest.approx(256 * 65536 / 125e6)
    assert report["predicted_seconds"] >= report["bound_seconds"]
    assert report["contention_free"] is True and report["complete"] is True
    assert 0 < report["waits"] <= report["waits_before_reduction"]
    assert 1e6 < report["peak_rss_bytes"] < 1e9
    assert 0 < report["plan_seconds"] < 60 and 0 < report["verify_seconds"] < 60


def test_dump_is_the_whole_schedule(hocket, tmp_path: Path) -> None:
    dump = tmp_path / "plan.csv"
    report = hocket(
        "plan", "all-to-all", "--network", "tree:2x3", "--bytes", "1000", "--dump", dump, "--json"
    ).object()
    transfers = rows(dump)
    assert {(t["origin"], t["target"]) for t in transfers} == {
        (a, b) for a in range(6) for b in range(6) if a != b
    }
    assert len(transfers) == report["messages"] == 30
    assert [t["phase"] for t in transfers] == sorted(t["phase"] for t in transfers)
    assert {t["phase"] for t in transfers} <= set(range(report["phases"]))
    assert all(t["src"] == t["origin"] and t["dst"] == t["target"] for t in transfers)
    assert all(t["offset"] == 0 and t["length"] == 1000 for t in transfers)


@pytest.mark.parametrize(
    ("network", "algorithm", "ranks"),
    [
        *(
            (tree, "tree", (0, 3, 5))
            for tree in ("star:9", "chain:4,3,2", "tree:2x2x3", "tree:(2,(4),((3)))", "star:3*2")
        ),
        ("torus:4x8", "product", (0, 3, 5)),
        ("tree:4x8x17", "tree", (0, 3, 5)),  # above the limit of ranks: from the closed form
        ("torus:24x24", "product", (0, 3, 5)),
        ("mesh:23x23", "product", (3,)),  # without one: the row of the whole schedule, which takes long
        pytest.param("mesh:23x23", "product", (0, 5), marks=pytest.mark.slow),
    ],
)
def test_a_row_is_a_part_of_the_whole(
    hocket, tmp_path: Path, network: str, algorithm: str, ranks: tuple[int, ...]
) -> None:
    whole, row = tmp_path / "whole.csv", tmp_path / "row.csv"
    plan = ("plan", "all-to-all", "--network", network, "--algorithm", algorithm, "--dump", whole)
    assert hocket(*plan).code == 0
    planned = columns(whole)
    phases = planned[:, PHASE].max() + 1
    for rank in ranks:
        report = hocket(
            "plan", "all-to-all", "--network", network, "--rank", rank, "--dump", row, "--json"
        ).object()
        assert np.array_equal(columns(row), of_rank(planned, rank))
        assert report["rank"] == rank and report["phases"] == phases


def test_a_row_of_a_hundred_thousand_hosts(program, tmp_path: Path) -> None:
    dump = tmp_path / "row.csv"
    answer = program(
        "plan", "all-to-all", "--network", "tree:10x100x100", "--rank", 54321, "--dump", dump, "--json"
    )
    report = answer.object()
    assert report["peak_rss_bytes"] < 500e6
    assert report["plan_seconds"] < 1
    assert len(dump.read_text().splitlines()) == 1 + 2 * 99_999
    sample = report["sample"]
    assert sample["ok"] and sample["messages"] == 20_000 and sample["channels"] > 4 * 20_000
    assert report["tokens_of_rank"] > 0


def test_memory_of_a_row_of_a_large_network(tmp_path: Path) -> None:
    """100,000 hosts: with all lines at once and the sends as a list of Python it took 100 MB."""
    arguments = [
        "plan",
        "all-to-all",
        "--network",
        "tree:50x50x40",
        "--rank",
        "7",
        "--dump",
        str(tmp_path / "row.csv"),
    ]
    prepare = "from hocket.cli import main\nmain(['plan', 'all-to-all', '--network', 'star:9'])\n"
    assert growth(prepare, f"main({arguments})") < 60_000  # KiB


def test_a_row_of_a_fat_tree_of_a_hundred_thousand_hosts(program) -> None:
    report = program("plan", "all-to-all", "--network", "fat-tree:k=74", "--rank", 54321, "--json").object()
    assert report["algorithm"] == "fat-tree"
    assert report["phases"] == report["bound_phases"] == 101_305
    assert report["sample"]["ok"] and report["sample"]["messages"] == 20_000
    assert report["peak_rss_bytes"] < 500e6


def test_a_row_says_that_its_proof_is_a_sample(hocket) -> None:
    text = hocket("plan", "all-to-all", "--network", "torus:24x24", "--rank", 9).out
    for part in ("by 'product'", "tokens", "a sample of 20,000", "none meets another, all are in order"):
        assert part in text
    assert "the whole takes" in text and "(predicted)" in text


def test_the_time_of_a_row_is_that_of_the_whole(hocket) -> None:
    """Simulated both times, from the closed form and from the schedule."""
    plan = ("plan", "all-to-all", "--network", "torus:24x24", "--json")
    whole, row = hocket(*plan).object(), hocket(*plan, "--rank", 9).object()
    assert whole["prediction"] == row["prediction"] == "simulated"
    assert whole["predicted_seconds"] == row["predicted_seconds"] > row["bound_seconds"]


@pytest.mark.parametrize("pattern", ["all-gather", "reduce-scatter"])
def test_a_row_of_blocks_of_a_hundred_thousand_hosts(program, tmp_path: Path, pattern: str) -> None:
    dump = tmp_path / "row.csv"
    report = program(
        "plan", pattern, "--network", "tree:10x100x100", "--rank", 54321, "--dump", dump, "--json"
    ).object()
    assert report["peak_rss_bytes"] < 500e6
    assert report["phases"] == 99_999 and report["ratio"] == pytest.approx(1, abs=0.01)
    assert report["contention_free"] and report["complete"] and report["ring"]["edges"] == 100_000
    lines = dump.read_text().splitlines()
    assert len(lines) == 1 + 2 * 99_999
    assert all(line.split(",")[4] == "*" for line in lines[1:])


def test_a_row_of_an_all_reduce_of_a_hundred_thousand_hosts(program) -> None:
    report = program("plan", "all-reduce", "--network", "tree:10x100x100", "--rank", 99, "--json").object()
    assert report["peak_rss_bytes"] < 500e6 and report["plan_seconds"] < 1
    assert report["phases"] == 2 * 99_999 and report["transfers_of_rank"] == 4 * 99_999
    assert report["tokens_of_rank"] > 0
    assert report["contention_free"] and report["complete"] and report["ring"]["edges"] == 200_000


@pytest.mark.parametrize("pattern", ["all-gather", "all-reduce"])
def test_a_row_of_blocks_is_a_part_of_the_whole(hocket, tmp_path: Path, pattern: str) -> None:
    whole, row = tmp_path / "whole.csv", tmp_path / "row.csv"
    plan = ("plan", pattern, "--network", "tree:3x19x19")
    assert hocket(*plan, "--dump", whole).code == 0
    planned = columns(whole)
    for rank in (0, 300):
        text = hocket(*plan, "--rank", rank, "--dump", row).out
        assert "times the bound of the wires" in text and "edges, which share none of the" in text
        assert sorted(columns(row).tolist()) == sorted(of_rank(planned, rank).tolist())


def test_text_says_what_it_did(hocket, tmp_path: Path) -> None:
    answer = hocket("plan", "all-to-all", "--network", "star:4", "-o", tmp_path / "p.hkt")
    for part in ("4 ranks", "12 messages", "phases      3, bound 3", "contention-free", "wrote"):
        assert part in answer.out


def test_one_host(hocket) -> None:
    report = hocket("plan", "all-to-all", "--network", "star:1", "--json").object()
    assert report["messages"] == 0 and report["phases"] == 0 and report["ratio"] == 1.0


def test_auto_takes_the_fastest_where_rates_differ(hocket) -> None:
    network = Path(__file__).parents[2] / "examples" / "networks" / "mixed-rates.toml"
    best = hocket("plan", "all-to-all", "--network", network, "--json").object()
    for name in ("tree", "packing"):
        other = hocket("plan", "all-to-all", "--network", network, "--algorithm", name, "--json").object()
        assert best["predicted_seconds"] <= other["predicted_seconds"] * (1 + 1e-9)


def test_ring_on_a_chain_is_called_what_it_is(hocket) -> None:
    answer = hocket("plan", "all-to-all", "--network", "chain:4,4,4", "--algorithm", "ring", "--json")
    report = answer.object()
    assert answer.code == 1
    assert report["contention_free"] is False and report["complete"] is True


@pytest.mark.parametrize("command", ["all-to-all", "irregular"])
def test_a_refused_plan_is_not_written(hocket, tmp_path: Path, command: str) -> None:
    plan, dump, demand = tmp_path / "refused.hkt", tmp_path / "all.csv", tmp_path / "demand.csv"
    lines = [",".join("0" if src == dst else "1000" for dst in range(8)) for src in range(8)]
    demand.write_text("\n".join(lines) + "\n")
    algorithm = (
        ["--algorithm", "ring"] if command == "all-to-all" else ["--algorithm", "AC", "--demand", demand]
    )
    plan.write_bytes(b"what was there")
    answer = hocket("plan", command, "--network", "chain:4,4", *algorithm, "-o", plan, "--dump", dump)
    assert answer.code == 1
    assert "REFUSED by the verifier: NOT contention-free, complete" in answer.out
    assert f"{plan} is not written" in answer.err
    assert "Traceback" not in answer.err
    assert f"wrote {plan}" not in answer.out and f"wrote {dump}" in answer.out
    assert plan.read_bytes() == b"what was there"
    assert dump.read_text().count("\n") == 57
    answer = hocket("plan", command, "--network", "chain:4,4", *algorithm, "-o", plan, "--json")
    assert answer.code == 1 and answer.object()["contention_free"] is False
    assert plan.read_bytes() == b"what was there"


def test_the_verifier_names_the_channel_of_a_contended_plan(hocket, tmp_path: Path) -> None:
    """Such a plan is written by nothing but the core."""
    network = read_network("chain:4,4,4")
    demand = _core.Demand(network.ranks, 65536)
    schedule = _core.Algorithm.find("ring").make(network, demand)
    waits = _core.Waits.derive(network, schedule)
    plan = tmp_path / "ring.hkt"
    plan.write_bytes(_core.Plan(network, schedule, waits, demand, "ring", 0, 0.0, 0.0).encode())
    answer = hocket("verify", plan, "--network", "chain:4,4,4")
    assert answer.code == 1
    assert "contention-free  NO" in answer.out and "channel s" in answer.out
    report = hocket("verify", plan, "--network", "chain:4,4,4", "--json")
    assert report.code == 1
    assert report.object()["ok"] is False and report.object()["findings"][0]["kind"] == "channel overfull"


def test_what_plan_calls_verified_verify_verifies(hocket, tmp_path: Path) -> None:
    """Inter-switch links of several widths: the order of a phase is another in the file."""
    network, plan = tmp_path / "wide.toml", tmp_path / "p.hkt"
    racks = [("core", 0, None), ("r1", 4, 40), ("r2", 5, 20), ("r3", 4, 5), ("r4", 6, 2.5)]
    lines = ["[defaults]", 'rate = "10Gbit"', 'latency = "1us"']
    for name, hosts, gbit in racks:
        lines += ["[[switch]]", f'name = "{name}"']
        lines += [f'hosts = "{name}h[01-{hosts:02}]"'] if hosts else []
        lines += ['uplink = "core"', f'rate = "{gbit}Gbit"', 'host_rate = "10Gbit"'] if gbit else []
    network.write_text("\n".join(lines) + "\n")
    answer = hocket("plan", "all-to-all", "--network", network, "--algorithm", "packing", "-o", plan)
    assert answer.code == 0 and "verified: contention-free, complete" in answer.out
    answer = hocket("verify", plan, "--network", network)
    assert answer.code == 0, answer.out


def test_new_file_has_ordinary_permissions_and_old_ones_stay(hocket, tmp_path: Path) -> None:
    plan = tmp_path / "p.hkt"
    mask = os.umask(0o027)
    try:
        hocket("plan", "all-to-all", "--network", "star:4", "-o", plan)
    finally:
        os.umask(mask)
    assert stat.S_IMODE(plan.stat().st_mode) == 0o640
    plan.chmod(0o600)
    hocket("plan", "all-to-all", "--network", "star:4", "-o", plan)
    assert stat.S_IMODE(plan.stat().st_mode) == 0o600
    assert [p.name for p in tmp_path.iterdir()] == ["p.hkt"]


def test_same_plan_twice(hocket, tmp_path: Path) -> None:
    for name in ("a", "b"):
        hocket("plan", "all-to-all", "--network", "chain:3,4", "-o", tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(("pattern", "remedy"), [("all-to-all", "--rank R, or cut"), ("all-gather", "cut")])
def test_too_many_ranks_for_a_whole_schedule(hocket, pattern: str, remedy: str) -> None:
    answer = hocket("plan", pattern, "--network", "star:99999")
    refused(answer, "99,999 ranks are too many", "up to 8,192", remedy, "hocket network convert --hosts")


@pytest.mark.parametrize("collective", ["all-to-all", "all-gather"])
def test_a_plan_in_python_reports_what_the_command_prints(hocket, collective: str) -> None:
    printed = hocket("plan", collective, "--network", "fat-tree:4x2x2", "--bytes", "64KiB", "--json").object()
    reported = plan("fat-tree:4x2x2", collective, bytes="64KiB").report()
    assert set(printed) - set(reported) <= {"host_rates", "uplinks", "forecast", "library"}
    assert all(printed[key] == told for key, told in reported.items() if not key.endswith(MEASURED))
    assert ("bounds" in reported) == (collective == "all-to-all")
