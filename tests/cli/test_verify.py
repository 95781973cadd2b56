"""hocket verify: 0 it holds, 1 it does not, 2 not this plan or not this network."""

from __future__ import annotations

from pathlib import Path

import pytest

from hocket import Plan, PlanError
from plan_file import HEADER, header_bytes, header_of, join, split
from refusals import refused

NETWORK = "chain:3,2,2"


def toml(tmp_path: Path, hosts: str, rate: str = "1Gbit", ranks: int = 1) -> Path:
    path = tmp_path / "net.toml"
    path.write_text(
        f'[defaults]\nrate = "{rate}"\nranks = {ranks}\n[[switch]]\nname = "s0"\nhosts = [{hosts}]\n'
    )
    return path


def test_a_plan_holds(hocket, plan: Path) -> None:
    answer = hocket("verify", plan, "--network", NETWORK)
    assert answer.code == 0
    assert "holds" in answer.out and "contention-free  yes" in answer.out


def test_json(hocket, plan: Path) -> None:
    report = hocket("verify", plan, "--network", NETWORK, "--json").object()
    assert report["ok"] and report["contention_free"] and report["complete"]
    assert report["transfers"] == report["messages"] == 42
    assert report["violations"] == {} and report["findings"] == []


def test_prices_certify_a_bound_for_any_routes(hocket, tmp_path: Path) -> None:
    network, path, printed = "dragonfly:3x3x2x2", tmp_path / "p.hkt", tmp_path / "plan.json"
    told = hocket("plan", "all-to-all", "--network", network, "--bytes", "1KiB", "-o", path, "--json")
    printed.write_text(told.out)
    bounds = told.object()["bounds"]
    assert bounds["installed_routes"]["phases"] >= bounds["free_routes"]["phases"] * (1 - 1e-9)
    command = ("verify", path, "--network", network, "--prices", printed)
    report = hocket(*command, "--json").object()
    assert report["ok"]
    assert report["free_routes_seconds"] == pytest.approx(bounds["free_routes"]["seconds"])
    assert "any routes       bound " in hocket(*command).out


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "no prices"), ("[]", "no prices"), ('{"bounds": {"free_routes": {}}}', "no prices"),
        ('{"bounds": {"free_routes": {"prices": 1}}}', "no list of numbers"),
        ('{"bounds": {"free_routes": {"prices": [true]}}}', "no list of numbers"),
        ('{"bounds": {"free_routes": {"prices": [1]}}}', "1 prices for "),
    ],
)  # fmt: skip
def test_what_is_no_certificate(hocket, plan: Path, tmp_path: Path, text: str, says: str) -> None:
    printed = tmp_path / "plan.json"
    printed.write_text(text)
    answer = hocket("verify", plan, "--network", NETWORK, "--prices", printed)
    assert (answer.code, answer.out) == (2, "")
    assert says in answer.err


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ("star:7", "no channel"),
        ("chain:3,2,3", "the plan has 7 hosts, the network 8"),
        ("chain:3,2,2@100Mbit", "1 Gbit/s"),
        ("chain:3,2,2*2", "host 0 is n0 with 1 rank, in the network n0 with 2 ranks"),
        ("chain:2,3,2", "no channel n2->s0 of 1 Gbit/s"),
    ],
)
def test_a_plan_for_another_network_is_refused(hocket, plan: Path, other: str, says: str) -> None:
    answer = hocket("verify", plan, "--network", other)
    assert answer.code == 2
    assert answer.err.startswith("hocket: ") and answer.err.count("\n") == 1
    assert "made for another network" in answer.err and says in answer.err
    assert answer.out == ""
    assert hocket("simulate", plan, "--network", other).code == 2


def test_another_size_in_the_header_is_refused(hocket, plan: Path) -> None:
    """Rows of messages that go whole carry no sizes."""
    sections = split(plan.read_bytes())
    header = header_of(plan.read_bytes())
    size = int(str(header["bytes"]))
    sections[HEADER] = header_bytes({**header, "bytes": size + 1})
    plan.write_bytes(join(sections))
    for command in ("verify", "simulate"):
        refused(
            hocket(command, plan, "--network", NETWORK),
            f"{plan}: the header says {size + 1} bytes and a bound of",
        )
    with pytest.raises(PlanError, match=f"the header says {size + 1} bytes"):
        Plan.load(plan)
    sections[HEADER] = header_bytes({**header, "bytes": size + 1, "bound_seconds": 0.0})
    plan.write_bytes(join(sections))
    assert hocket("verify", plan, "--network", NETWORK).code == 0, "it states no bound"
    larger = {"bytes": 2 * size, "bound_seconds": 2 * float(str(header["bound_seconds"]))}
    sections[HEADER] = header_bytes({**header, **larger})
    plan.write_bytes(join(sections))
    refused(hocket("verify", plan, "--network", NETWORK), f"{2 * size} bytes in ", "less than the bound of ")


@pytest.mark.parametrize("pattern", ["all-to-all", "all-gather"])
def test_another_bound_in_the_header_is_refused(hocket, tmp_path: Path, pattern: str) -> None:
    plan = tmp_path / "plan"
    assert hocket("plan", pattern, "--network", NETWORK, "-o", plan).code == 0
    good = plan.read_bytes()
    header = header_of(good)
    assert hocket("verify", plan, "--network", NETWORK).code == 0
    for field, value in (("bound_phases", 1), ("bound_seconds", 1e-9)):
        plan.write_bytes(join([header_bytes({**header, field: value}), *split(good)[1:]]))
        refused(hocket("verify", plan, "--network", NETWORK), f"{plan}: the header says ", "a bound of 1 ")
        with pytest.raises(PlanError, match="a bound of 1 "):
            Plan.load(plan)


def test_every_altered_byte_is_refused(hocket, plan: Path, tmp_path: Path) -> None:
    good = plan.read_bytes()
    bad = tmp_path / "bad.hkt"
    for place in range(0, len(good), max(1, len(good) // 150)):
        bad.write_bytes(good[:place] + bytes([good[place] ^ 0x10]) + good[place + 1 :])
        answer = hocket("verify", bad, "--network", NETWORK)
        assert answer.code == 2, place
        assert answer.err.startswith(f"hocket: {bad}") and answer.err.count("\n") == 1


def test_every_truncation_is_refused(hocket, plan: Path, tmp_path: Path) -> None:
    good = plan.read_bytes()
    bad = tmp_path / "bad.hkt"
    for length in range(0, len(good), max(1, len(good) // 100)):
        bad.write_bytes(good[:length])
        assert hocket("verify", bad, "--network", NETWORK).code == 2, length


def test_not_a_plan(program, tmp_path: Path) -> None:
    for content in (b"", b"hello", b"\xff" * 5000):
        path = tmp_path / "x"
        path.write_bytes(content)
        answer = program("verify", path, "--network", NETWORK)
        assert answer.code == 2 and "Traceback" not in answer.err
    assert program("verify", tmp_path / "none", "--network", NETWORK).code == 2
    assert program("verify", tmp_path, "--network", NETWORK).code == 2
