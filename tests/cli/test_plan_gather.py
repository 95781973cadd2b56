"""hocket plan all-gather, and what the other commands make of its plans."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from contract import CONTRACT as EXCHANGE_CONTRACT
from hocket import _core
from hocket.network import read_network

CONTRACT = ["pattern", *EXCHANGE_CONTRACT, "alpha"]
NETWORKS = ["star:6", "chain:3,2,2", "tree:2x2x3", "star:3*2", "torus:4x4", "mesh:3x4", "hypercube:3"]


def rows(path: Path) -> list[dict[str, str]]:
    lines = path.read_text().splitlines()
    assert lines[0] == "phase,src,dst,origin,target,offset,length"
    return list(csv.DictReader(lines))


def gather(hocket, *arguments: object) -> dict:
    return hocket("plan", "all-gather", *arguments, "--json").object()


def refused(answer, *says: str) -> None:
    assert answer.code == 2, answer
    assert answer.out == "" and answer.err.startswith("hocket: ") and answer.err.count("\n") == 1
    for part in says:
        assert part in answer.err


def test_json_has_the_contract(hocket) -> None:
    report = gather(hocket, "--network", "chain:8,8,8,8", "--bytes", "64KiB")
    assert [key for key in CONTRACT if key not in report] == []
    assert report["pattern"] == "all-gather"
    assert (report["hosts"], report["ranks"], report["messages"]) == (32, 32, 992)
    assert report["bound_phases"] == 5  # what a rank knows doubles
    assert report["bound_seconds"] == pytest.approx(31 * 65536 / 125e6)
    assert report["ratio"] == pytest.approx(report["predicted_seconds"] / report["bound_seconds"])
    assert report["contention_free"] is True and report["complete"] is True


@pytest.mark.parametrize("network", NETWORKS)
def test_plans_hold_and_are_simulated(hocket, tmp_path: Path, network: str) -> None:
    plan = tmp_path / "p.hkt"
    planned = gather(hocket, "--network", network, "--alpha", "10us", "-o", plan)
    assert planned["contention_free"] and planned["complete"] and planned["ratio"] >= 1 - 1e-9
    checked = hocket("verify", plan, "--network", network, "--json").object()
    assert checked["ok"] and checked["pattern"] == "all-gather"
    for key in ("ranks", "bytes", "messages", "phases", "bound_phases", "bound_seconds", "ratio", "waits"):
        assert checked[key] == planned[key], key
    simulate = ("simulate", plan, "--network", network, "--alpha", "10us")
    simulated = hocket(*simulate, "--json").object()
    assert simulated["pattern"] == "all-gather" and simulated["bound_seconds"] == planned["bound_seconds"]
    assert simulated["predicted_seconds"] == pytest.approx(planned["predicted_seconds"])
    assert "1 MiB from each in" in hocket(*simulate).out


ONE_GIVER = {"group-chain": "star:8", "disjoint-trees": "torus:2x4"}


@pytest.mark.parametrize(("algorithm", "network"), ONE_GIVER.items())
def test_algorithms_of_one_contribution(hocket, algorithm: str, network: str) -> None:
    options = ("--network", network, "--bytes", "100000", "--algorithm", algorithm, "--json")
    for collective in ("broadcast", "reduce"):
        report = hocket("plan", collective, *options).object()
        assert report["algorithm"] == algorithm and report["complete"] and report["contention_free"]
    assert "one contribution" in hocket("plan", "all-gather", *options).err


@pytest.mark.parametrize(
    "algorithm",
    [s.name for s in _core.Algorithm.all() if s.pattern == "all-gather" and s.name not in ONE_GIVER],
)
def test_every_algorithm_by_its_name(hocket, tmp_path: Path, algorithm: str) -> None:
    dump = tmp_path / "p.csv"
    entry, demand = _core.Algorithm.find(algorithm, "all-gather"), _core.Demand(8, 1000, "all-gather")
    network = next(n for n in ("star:8", "torus:2x4") if not entry.why_not(read_network(n), demand))
    report = gather(hocket, "--network", network, "--bytes", "1000", "--algorithm", algorithm, "--dump", dump)
    assert report["algorithm"] == algorithm and report["complete"]
    transfers = rows(dump)
    assert {t["target"] for t in transfers} == {"*"}
    assert [int(t["phase"]) for t in transfers] == sorted(int(t["phase"]) for t in transfers)
    arrived = {(t["dst"], t["origin"]) for t in transfers}
    assert arrived == {(str(a), str(b)) for a in range(8) for b in range(8) if a != b}
    assert sum(int(t["length"]) for t in transfers) == 8 * 7 * 1000


def test_text_says_what_it_did(hocket, tmp_path: Path) -> None:
    answer = hocket("plan", "all-gather", "--network", "star:4", "-o", tmp_path / "p.hkt")
    for part in ("all-gather of 4 ranks, 1 MiB from each", "bound 2", "ratio", "contention-free", "wrote"):
        assert part in answer.out
    text = hocket("verify", tmp_path / "p.hkt", "--network", "star:4").out
    assert "holds" in text and "time as planned" in text


@pytest.mark.parametrize("size", ["1", "3GiB"])
def test_sizes_from_a_byte_to_more_than_an_int(hocket, tmp_path: Path, size: str) -> None:
    plan = tmp_path / "p.hkt"
    report = gather(hocket, "--network", "chain:2,3", "--bytes", size, "-o", plan)
    assert report["complete"] and report["contention_free"] and report["ratio"] >= 1
    assert hocket("verify", plan, "--network", "chain:2,3").code == 0


def test_one_host(hocket) -> None:
    report = gather(hocket, "--network", "star:1")
    assert report["messages"] == report["phases"] == report["bound_phases"] == 0 and report["ratio"] == 1.0


def test_alphas_raise_the_bound(hocket) -> None:
    plain = gather(hocket, "--network", "star:8", "--bytes", "1")
    report = gather(hocket, "--network", "star:8", "--bytes", "1", "--alpha", "1ms")
    assert report["alpha"] == 1e-3
    assert report["bound_seconds"] == pytest.approx(3e-3)  # log2 8 per-message costs
    large = gather(hocket, "--network", "star:8", "--bytes", "10MB", "--alpha", "1ms")
    assert large["bound_seconds"] == pytest.approx(1e-3 + 7 * 10e6 / 125e6)
    assert plain["bound_seconds"] == pytest.approx(7 / 125e6)


def test_auto_takes_the_least_time(hocket) -> None:
    for network in ("torus:4x4", "chain:3,2,2*2"):
        net = read_network(network)
        demand = _core.Demand(net.ranks, 65536, "all-gather")
        best = gather(hocket, "--network", network)
        for entry in _core.Algorithm.all():
            if entry.pattern != "all-gather" or not entry.contention_free or entry.why_not(net, demand):
                continue
            other = gather(hocket, "--network", network, "--algorithm", entry.name)
            assert best["predicted_seconds"] <= other["predicted_seconds"] * (1 + 1e-9)


@pytest.mark.parametrize("text", ["1\n2KiB\n0\n1MB\n5\n", "1, 2KiB, 0\n# a comment\n\n1MB,\n5 # the last"])
def test_contributions(hocket, tmp_path: Path, text: str) -> None:
    sizes, plan, dump = tmp_path / "sizes.txt", tmp_path / "p.hkt", tmp_path / "p.csv"
    sizes.write_text(text)
    arguments = ("--network", "chain:3,2", "--contributions", sizes, "-o", plan, "--dump", dump)
    report = gather(hocket, *arguments)
    assert report["complete"] and report["bytes"] == 10**6
    arrived: dict[tuple[str, str], int] = {}
    for row in rows(dump):
        arrived[row["dst"], row["origin"]] = arrived.get((row["dst"], row["origin"]), 0) + int(row["length"])
    want = {str(origin): size for origin, size in enumerate([1, 2048, 0, 10**6, 5])}
    assert {key: n for key, n in arrived.items() if n} == {
        (str(rank), origin): size
        for rank in range(5)
        for origin, size in want.items()
        if size and origin != str(rank)
    }
    assert hocket("verify", plan, "--network", "chain:3,2").code == 0
    assert "in all" in hocket("simulate", plan, "--network", "chain:3,2").out


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("1\n2\n", "there are 2 contributions for 3 ranks"),
        ("", "there are 0 contributions for 3 ranks"),
        ("1\n2\n3\n4\n", "sizes.txt:4: there are more contributions"),
        ("1\nmany\n3\n", "sizes.txt:2: 'many'"),
        ("1\n2\n3 parsec\n", "sizes.txt:3: the size '3 parsec' has the unknown unit"),
        ("1,,2\n", "sizes.txt:1: a size is missing"),
        ("1\n-2\n3\n", "sizes.txt:2: '-2' is negative"),
        ("1\n1.5\n3\n", "sizes.txt:2"),
        ("1\n2\n2PiB\n", "sizes.txt:3"),
        ("1\n2\n1025TiB\n", "sizes.txt:3: 1025TiB is more than any memory"),
        (b"1\n\xff\n3\n", "sizes.txt:2: this is not text"),
    ],
)
def test_contributions_that_are_refused(hocket, tmp_path: Path, text: str | bytes, says: str) -> None:
    sizes = tmp_path / "sizes.txt"
    sizes.write_bytes(text if isinstance(text, bytes) else text.encode())
    out = tmp_path / "p.hkt"
    refused(
        hocket("plan", "all-gather", "--network", "star:3", "--contributions", sizes, "-o", out),
        "sizes.txt",
        says,
    )
    assert not out.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("--network", "star:4", "--bytes", "9999999TiB"),
        ("--network", "star:4", "--bytes", "1", "--contributions", "sizes.txt"),
        ("--network", "star:4", "--contributions", "none.txt"),
        ("--network", "star:4", "--alpha", "soon"),
        ("--network", "star:4", "--algorithm", "tree"),
        ("--network", "star:4", "--rank", "4"),
        ("--network", "star:4", "--rank", "0", "-o", "x.hkt"),
        ("--network", "star:100000"),
    ],
    ids=" ".join,
)
def test_bad_requests(
    hocket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    refused(hocket("plan", "all-gather", *arguments))
    assert list(tmp_path.iterdir()) == []


def test_a_row_is_a_part_of_the_whole(hocket, tmp_path: Path) -> None:
    whole, row = tmp_path / "whole.csv", tmp_path / "row.csv"
    gather(hocket, "--network", "chain:4,3", "--dump", whole)
    report = gather(hocket, "--network", "chain:4,3", "--rank", 2, "--dump", row)
    assert rows(row) == [t for t in rows(whole) if "2" in (t["src"], t["dst"])]
    assert report["rank"] == 2 and report["transfers_of_rank"] == 12
    assert (
        "rank 2 of 7: 6 sends and 6 receives"
        in hocket("plan", "all-gather", "--network", "chain:4,3", "--rank", 2).out
    )


def test_schedules_that_collide_are_called_what_they_are(hocket, tmp_path: Path) -> None:
    plan, dump = tmp_path / "p.hkt", tmp_path / "row.csv"
    arguments = ("--network", "chain:4,4", "--algorithm", "recursive-doubling")
    answer = hocket("plan", "all-gather", *arguments, "-o", plan, "--json")
    report = answer.object()
    assert report["contention_free"] is False and report["complete"] is True
    assert answer.code == 1 and not plan.exists()
    for refused in (hocket("plan", "all-gather", *arguments, "--rank", "1", "--dump", dump),):
        assert refused.code == 2 and refused.out == "" and refused.err.count("\n") == 1
        assert "the verifier refuses the schedule of 'recursive-doubling': channel s" in refused.err
        assert not plan.exists() and not dump.exists()


def test_simulate_without_a_plan(hocket, tmp_path: Path) -> None:
    picture = tmp_path / "p.svg"
    arguments = ("simulate", "--network", "chain:3,3", "--pattern", "all-gather", "--bytes", "1MB")
    report = hocket(*arguments, "--algorithm", "bruck", "--plot", f"timeline={picture}", "--json").object()
    assert report["pattern"] == "all-gather" and report["ratio"] >= 1
    text = picture.read_text()
    assert "all-gather by bruck" in text and "at most" in text
    assert (
        hocket("simulate", "--network", "chain:3,3", "--bytes", "1MB", "--json").object()["pattern"]
        == "all-to-all"
    )


def test_network_show_knows_the_bound(hocket) -> None:
    report = hocket("network", "show", "torus:4x4", "--bytes", "1MB", "--json").object()["all_gather"]
    assert report["bound_phases"] == 2  # four ports: what a rank knows grows fivefold
    assert report["bound_seconds"] == pytest.approx(15e6 / (4 * 125e6))
    assert "all-gather of 1 MiB per rank" in hocket("network", "show", "star:4").out


def test_alphas_count_on_large_networks_too(hocket) -> None:
    """Many deliveries are predicted from phases; the choice must still see what messages cost."""
    arguments = ("--network", "torus:560@1Gbit,1us", "--bytes", "4KiB", "--alpha", "1ms")
    best = gather(hocket, *arguments)
    other = gather(hocket, *arguments, "--algorithm", "rails")
    assert best["complete"] and best["predicted_seconds"] < other["predicted_seconds"] / 10
