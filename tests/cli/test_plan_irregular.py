"""hocket plan irregular, and what the other commands make of its plans."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from contract import CONTRACT as EXCHANGE_CONTRACT
from hocket import _core
from hocket.cli.simulate import PLOTS
from hocket.demand.recorded import RecordedCall, write
from hocket.network import read_network
from hocket.planning import plan as planning_plan

CONTRACT = [
    *("pattern", *EXCHANGE_CONTRACT, "alpha", "window", "transfers", "seed", "splits"),
    *("lockstep_seconds", "token_seconds", "load_bound_seconds", "largest_bytes", "total_bytes"),
]
CHANGING = (
    "prediction", "predicted_seconds", "time_ratio", "plan_seconds", "verify_seconds", "peak_rss_bytes",
)  # fmt: skip
ALGORITHMS = [s for s in _core.Algorithm.all() if s.pattern == "irregular"]
NETWORKS = ["star:6", "chain:3,2,1", "tree:2x3", "star:3*2", "torus:2x3", "mesh:3x2", "fat-tree:2x3x2"]


@pytest.fixture
def sizes(tmp_path: Path) -> Path:
    """Six ranks; rank 4 sends nothing, and rank 5 keeps some."""
    path = tmp_path / "sizes.csv"
    path.write_text(
        "0,64KiB,1000,0,0,1\n5,0,0,100,0,0\n0,0,0,0,2MB,0\n7,0,0,0,300,0\n0,0,0,0,0,0\n1,1,1,1,1,50\n"
    )
    return path


def rows(path: Path) -> list[dict[str, str]]:
    lines = path.read_text().splitlines()
    assert lines[0] == "phase,src,dst,origin,target,offset,length"
    return list(csv.DictReader(lines))


def refused(answer, *says: str) -> None:
    assert answer.code == 2, answer
    assert answer.out == "" and answer.err.startswith("hocket: ") and answer.err.count("\n") == 1
    for part in says:
        assert part in answer.err


def test_json_has_the_contract(hocket, sizes: Path) -> None:
    answer = hocket("plan", "irregular", "--network", "star:6", "--demand", sizes, "--seed", "7", "--json")
    report = answer.object()
    assert [key for key in CONTRACT if key not in report] == [] and answer.err == ""
    assert (report["pattern"], report["hosts"], report["ranks"], report["seed"]) == ("irregular", 6, 6, 7)
    total = 65536 + 1000 + 1 + 5 + 100 + 2_000_000 + 7 + 300 + 5
    assert (report["messages"], report["bytes"], report["largest_bytes"]) == (13, 2_000_000, 2_000_000)
    assert report["total_bytes"] == total
    assert report["bound_phases"] == 5
    assert report["bound_seconds"] == pytest.approx(2_000_301 / 125e6)  # what rank 4 receives
    assert report["load_bound_seconds"] == pytest.approx(2_000_301 / 125e6)
    assert report["ratio"] == pytest.approx(report["lockstep_seconds"] / report["load_bound_seconds"])
    assert report["load_bound_seconds"] <= report["token_seconds"] <= report["lockstep_seconds"]
    assert report["splits"] == report["transfers"] - 13
    assert report["complete"] is True


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("algorithm", ["auto", *(s.name for s in ALGORITHMS)])
def test_plans_hold_and_are_simulated(
    hocket, tmp_path: Path, sizes: Path, network: str, algorithm: str
) -> None:
    built = read_network(network)
    demand = _core.Demand.irregular(6, [0], [1], [1])
    if algorithm != "auto" and _core.Algorithm.find(algorithm, "irregular").why_not(built, demand):
        pytest.skip("not served")
    plan, dump = tmp_path / "p.hkt", tmp_path / "p.csv"
    arguments = ("--network", network, "--demand", sizes, "--algorithm", algorithm)
    answer = hocket("plan", "irregular", *arguments, "-o", plan, "--dump", dump, "--json")
    planned = answer.object()
    assert planned["complete"] and plan.exists() == planned["contention_free"] == (answer.code == 0)
    assert planned["ratio"] >= 1 - 1e-9 or not planned["contention_free"]  # the bound is that of one port
    sent: dict[tuple[str, str], int] = {}
    for row in rows(dump):
        assert (row["src"], row["dst"]) == (row["origin"], row["target"])
        assert int(row["offset"]) == sent.get((row["src"], row["dst"]), 0)
        sent[row["src"], row["dst"]] = int(row["offset"]) + int(row["length"])
    assert sum(sent.values()) == planned["total_bytes"] and len(sent) == planned["messages"]
    anew = hocket("simulate", "--pattern", "irregular", *arguments, "--json").object()
    assert anew["predicted_seconds"] == pytest.approx(planned["predicted_seconds"])
    if not planned["contention_free"]:
        row = hocket("plan", "irregular", *arguments, "--rank", "0")
        assert row.code == 2 and row.out == "" and "the verifier refuses the schedule" in row.err
        return
    verify = ("verify", plan, "--network", network)
    checked = hocket(*verify, "--json").object()
    assert checked["complete"] and checked["contention_free"] == planned["contention_free"]
    shared = set(checked) & set(planned) - {"verify_seconds", "peak_rss_bytes"}
    assert {"ratio", "splits", "lockstep_seconds", "load_bound_seconds", "total_bytes", "phases"} <= shared
    assert {key: checked[key] for key in shared} == {key: planned[key] for key in shared}
    assert f"ratio {planned['ratio']:.3f}" in hocket(*verify).out
    simulated = hocket("simulate", plan, "--network", network, "--json").object()
    assert simulated["pattern"] == "irregular" and simulated["bound_seconds"] == planned["bound_seconds"]
    assert simulated["predicted_seconds"] == pytest.approx(planned["predicted_seconds"])


def test_what_people_read(hocket, tmp_path: Path, sizes: Path) -> None:
    arguments = ("--network", "star:6", "--demand", sizes)
    answer = hocket("plan", "irregular", *arguments, "--seed", "3", "-o", tmp_path / "p.hkt")
    assert answer.err == "50 B need no message: sender and receiver are the same rank\n"
    assert answer.out.startswith(
        "irregular exchange of 6 ranks, 13 messages of at most 2 MB, 2.067 MB in all, by '"
    )
    for part in (
        "seed 3",
        "\nin turn     16.01 ms, bound 16 ms, ratio 1.",
        "\nsplits ",
        "verified: contention-free",
    ):
        assert part in answer.out
    simulated = hocket("simulate", tmp_path / "p.hkt", "--network", "star:6").out
    assert "for 13 of at most 2 MB" in simulated


@pytest.mark.parametrize(
    ("algorithm", "kind", "words"),
    [("AC", "by load", "estimated from the loads"), ("RS_N", "by phases", "estimated from the phases")],
)
def test_a_long_simulation_is_given_up(
    hocket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, algorithm: str, kind: str, words: str
) -> None:
    np.save(tmp_path / "a.npy", np.random.default_rng(1).integers(100_000, 1_000_000, (12, 12)))
    arguments = ("--network", "torus:3x4", "--demand", tmp_path / "a.npy", "--algorithm", algorithm)
    plan = ("plan", "irregular", *arguments)
    simulated = hocket(*plan, "--json").object()
    assert simulated["prediction"] == "simulated"
    assert " predicted, bound" in hocket(*plan).out
    monkeypatch.setattr(planning_plan, "MOST_STEPS", 10)
    estimated = hocket(*plan, "--json").object()
    assert estimated["prediction"] == kind
    assert {**estimated, **dict.fromkeys(CHANGING)} == {**simulated, **dict.fromkeys(CHANGING)}
    assert f" {words}, bound" in hocket(*plan).out
    # The phases one after the other are slower than with tokens; loads alone are a bound, here reached.
    tolerance = {"by load": 0.02, "by phases": 0.5}[kind]
    assert estimated["predicted_seconds"] == pytest.approx(simulated["predicted_seconds"], rel=tolerance)
    # Explicit simulations run to the end.
    whole = hocket("simulate", "--pattern", "irregular", *arguments, "--json").object()
    assert whole["predicted_seconds"] == simulated["predicted_seconds"]


def test_every_format_gives_the_same_plan(hocket, tmp_path: Path) -> None:
    table = np.array([[0, 70, 0, 8], [1, 0, 0, 0], [0, 5, 0, 9], [0, 0, 3, 0]])
    np.save(tmp_path / "a.npy", table)
    (tmp_path / "a.csv").write_text("\n".join(",".join(map(str, row)) for row in table))
    entries = [f"{i + 1} {j + 1} {table[i, j]}" for i, j in np.argwhere(table)]
    head = f"%%MatrixMarket matrix coordinate integer general\n4 4 {len(entries)}\n"
    (tmp_path / "a.mtx").write_text(head + "\n".join(entries))
    sparse = tuple(tuple((j, int(table[i, j])) for j in range(4) if table[i, j]) for i in range(4))
    call = RecordedCall("MPI_Alltoallv", (0, 1, 2, 3), 9, sparse)
    (tmp_path / "a.json").write_bytes(b"".join(write(4, [call, call])))
    dumps = set()
    for name in ("a.npy", "a.csv", "a.mtx", "a.json:2"):
        dump = tmp_path / "dump.csv"
        plan = ("plan", "irregular", "--network", "chain:2,2", "--demand", tmp_path / name, "--dump", dump)
        assert hocket(*plan).code == 0
        dumps.add(dump.read_text())
    assert len(dumps) == 1


def test_the_same_seed_the_same_plan(hocket, tmp_path: Path, sizes: Path) -> None:
    files = []
    for number, seed in enumerate([5, 5, 6]):
        files.append(tmp_path / f"{number}.csv")
        arguments = ("--network", "torus:2x3", "--demand", sizes, "--seed", seed, "--dump", files[-1])
        assert hocket("plan", "irregular", *arguments).code == 0
    assert files[0].read_text() == files[1].read_text()


def test_a_row_is_a_part_of_the_whole(hocket, tmp_path: Path, sizes: Path) -> None:
    whole, row = tmp_path / "whole.csv", tmp_path / "row.csv"
    plan = ("plan", "irregular", "--network", "chain:3,3", "--demand", sizes)
    assert hocket(*plan, "--dump", whole).code == 0
    report = hocket(*plan, "--rank", 4, "--dump", row, "--json").object()
    assert rows(row) == [t for t in rows(whole) if "4" in (t["src"], t["dst"])]
    assert report["rank"] == 4 and report["transfers_of_rank"] == len(rows(row)) > 0
    assert "rank 4 of 6: 0 sends and" in hocket(*plan, "--rank", 4).out


def test_nothing_to_send(hocket, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("0,0\n0,9\n")
    arguments = ("--network", "star:2", "--demand", tmp_path / "a.csv")
    report = hocket("plan", "irregular", *arguments, "-o", tmp_path / "p.hkt", "--json").object()
    assert (report["messages"], report["phases"], report["ratio"], report["splits"]) == (0, 0, 1.0, 0)
    assert "0 messages of nothing" in hocket("plan", "irregular", *arguments).out
    assert hocket("verify", tmp_path / "p.hkt", "--network", "star:2").code == 0
    assert hocket("simulate", tmp_path / "p.hkt", "--network", "star:2").code == 0


@pytest.mark.parametrize("kind", PLOTS)
def test_pictures_of_unequal_sizes(hocket, tmp_path: Path, sizes: Path, kind: str) -> None:
    picture = tmp_path / "p.svg"
    simulate = ("simulate", "--network", "torus:2x3", "--pattern", "irregular", "--demand", sizes)
    answer = hocket(*simulate, "--plot", f"{kind}={picture}")
    assert answer.code == 0, answer
    assert "irregular by" in picture.read_text()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--network", "star:32", "--demand", "sizes.csv"), "the matrix is 6 x 6, the network has 32 ranks"),
        (("--network", "star:6", "--demand", "none.mtx"), "none.mtx: no such file"),
        (("--network", "star:6", "--demand", "sizes.csv:1"), "this is not recorded traffic"),
        (("--network", "star:6", "--demand", "sizes.csv", "--algorithm", "tree"), "no irregular algorithm"),
        (("--network", "star:6", "--demand", "sizes.csv", "--rank", "6"), "there is no rank 6"),
        (
            ("--network", "star:6", "--demand", "sizes.csv", "--rank", "0", "-o", "x"),
            "the programs of all ranks",
        ),
        (("--network", "star:6", "--demand", "sizes.csv", "--alpha", "soon"), "soon"),
        (("--network", "star:6", "--demand", "sizes.csv", "-o", "none/p.hkt"), "cannot write"),
    ],
    ids=range(8),
)
def test_bad_requests(
    hocket,
    tmp_path: Path,
    sizes: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: tuple[str, ...],
    says: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    refused(hocket("plan", "irregular", *arguments), says)
    assert [p.name for p in sizes.parent.iterdir()] == ["sizes.csv"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--pattern", "irregular"), "an irregular exchange needs a traffic matrix"),
        (("--demand", "a.csv"), "--demand does not belong to --pattern all-to-all"),
        (("--pattern", "irregular", "--demand", "a.csv", "--bytes", "1"), "--bytes sets one size"),
    ],
    ids=range(3),
)
def test_bad_simulations(hocket, arguments: tuple[str, ...], says: str) -> None:
    refused(hocket("simulate", "--network", "star:6", *arguments), says)


def test_a_plan_says_all_that_was_planned(hocket, tmp_path: Path, sizes: Path) -> None:
    plan = tmp_path / "p.hkt"
    assert hocket("plan", "irregular", "--network", "star:6", "--demand", sizes, "-o", plan).code == 0
    for option, value in (("--demand", sizes), ("--seed", "2")):
        refused(hocket("simulate", plan, "--network", "star:6", option, value), option, "is a plan")


def test_programs_do_not_follow_it(program, tmp_path: Path, sizes: Path) -> None:
    plan = tmp_path / "p.hkt"
    assert program("plan", "irregular", "--network", "star:6", "--demand", sizes, "-o", plan).code == 0
    answer = program("run", "--network", "star:6", "-n", "1", "--plan", plan, "--", "true")
    refused(answer, "a program's calls cannot follow a plan of an irregular exchange")
