"""--uplink-rate and --oversubscription, assumed uplinks said aloud, and a network from standard input."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hocket.lab import LabOptions
from hocket.network import read_network_description
from refusals import refused

EXAMPLES = Path(__file__).parents[2] / "examples" / "networks"
SLURM = EXAMPLES / "topology.conf"
FAT_TREE = EXAMPLES / "fat-tree.conf"
Call = Callable[..., Any]


@pytest.fixture(autouse=True)
def nothing_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(params=["its speeds", "--oversubscription"])
def fat_tree(request: pytest.FixtureRequest, tmp_path: Path) -> list[str]:
    """Options for four leaves with 16 hosts each at 200 Gbit/s, uplinks as wide as all hosts below."""
    rest = ["--rate", "200Gbit", "--latency", "1us"]
    if request.param == "its speeds":
        return ["--network", str(FAT_TREE), *rest]
    lines = FAT_TREE.read_text().splitlines()
    without = tmp_path / "topology.conf"
    without.write_text("\n".join(line.partition(" LinkSpeed=")[0] for line in lines) + "\n")
    assert "LinkSpeed" not in without.read_text()
    return ["--network", str(without), *rest, "--oversubscription", "1"]


def test_a_fat_tree_is_planned_as_wide_as_it_is(hocket: Call, fat_tree: list[str]) -> None:
    """With uplinks assumed as fast as hosts' links it would be 768 phases."""
    report = hocket("plan", "all-to-all", *fat_tree, "--bytes", "64KiB", "--json").object()
    assert report["bound_phases"] == 63
    assert report["phases"] <= 64
    assert report["ratio"] <= 1.02
    assert report["uplinks"]["provenance"] == "stated"
    assert report["contention_free"] is True and report["complete"] is True
    assert report["time_ratio"] == pytest.approx(report["predicted_seconds"] / report["bound_seconds"])


def test_large_messages_take_little_more_than_the_bound(hocket: Call, fat_tree: list[str]) -> None:
    report = hocket("plan", "all-to-all", *fat_tree, "--bytes", "16MiB", "--json").object()
    assert 1 <= report["time_ratio"] <= 1.02


@pytest.mark.parametrize("pattern", ["all-to-all", "all-gather"])
def test_assumed_uplinks_are_said_wherever_something_is_planned(hocket: Call, pattern: str) -> None:
    answer = hocket("plan", pattern, "--network", SLURM)
    assert "uplinks: assumed as fast as a host's link" in answer.out
    assert "of assumed capacities" in answer.out
    report = hocket("plan", pattern, "--network", SLURM, "--json").object()
    assert report["uplinks"]["provenance"] == "assumed"
    assert report["uplinks"]["text"] in answer.out
    stated = hocket("plan", pattern, "--network", SLURM, "--uplink-rate", "8Gbit")
    assert "uplinks: assumed" not in stated.out + stated.err and "assumed capacities" not in stated.out


@pytest.mark.parametrize("command", ["plan all-to-all", "plan all-gather", "simulate", "network show", "env"])
def test_assumed_host_rates_are_said(hocket: Call, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    if command == "env":  # needs a runtime: that of the other tests, not one compiled anew
        monkeypatch.delenv("XDG_CACHE_HOME")
    network = () if command == "network show" else ("--network",)
    said = hocket(*command.split(), *network, SLURM, "--uplink-rate", "8Gbit")
    assert "host rates: assumed 1 Gbit/s (not stated); give --rate\n" in said.out + said.err
    stated = hocket(*command.split(), *network, SLURM, "--uplink-rate", "8Gbit", "--rate", "1Gbit")
    assert "assumed 1 Gbit/s" not in stated.out + stated.err
    if command != "env":
        report = hocket(*command.split(), *network, SLURM, "--uplink-rate", "8Gbit", "--json").object()
        assert report["host_rates"]["provenance"] == "assumed"


def test_show_says_how_uplinks_are_known(hocket: Call) -> None:
    assert "uplinks: assumed" in hocket("network", "show", SLURM).out
    shown = hocket("network", "show", SLURM, "--oversubscription", "2", "--json").object()
    assert shown["uplinks"] == {
        "provenance": "stated",
        "text": "uplinks: 4 Gbit/s each, by --oversubscription",
    }
    assert {link["rate"] for link in shown["links"][-3:]} == {4 * 125e6}
    assert hocket("network", "show", "star:4", "--json").object()["uplinks"]["provenance"] == "none"


@pytest.mark.parametrize(
    "command",
    [
        ["verify", "PLAN", "--network"],
        ["simulate", "--network"],
        ["network", "balance"],
        ["plan", "irregular", "--demand", "DEMAND", "--network"],
    ],
    ids=" ".join,
)
def test_every_command_takes_the_options(hocket: Call, tmp_path: Path, command: list[str]) -> None:
    """They reach the reader: both at once contradict each other."""
    files = {"PLAN": tmp_path / "plan.hkt", "DEMAND": tmp_path / "demand.csv"}
    hocket("plan", "all-to-all", "--network", SLURM, "-o", files["PLAN"])
    files["DEMAND"].write_text("0,1\n1,0\n")
    words = [str(files.get(word, word)) for word in command]
    answer = hocket(*words, SLURM, "--uplink-rate", "8Gbit", "--oversubscription", "2")
    refused(answer, "--uplink-rate and --oversubscription", "give one of them")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--rate", "999TB"), ("--rate: 999TB is not a possible link rate", "give 8kbit/s to 80Tbit/s")),
        (("--rate", "fast"), ("--rate: ",)),
        (("--uplink-rate", "1bit"), ("--uplink-rate: 1bit is not a possible link rate",)),
        (("--latency", "11s"), ("--latency 11s", "at most 10s")),
        (
            ("--oversubscription", "0"),
            ("--oversubscription 0 is not an oversubscription", "from the leaves up"),
        ),
        (("--oversubscription", "2,nan"), ("--oversubscription 2,nan",)),
        (("--oversubscription", "2:1"), ("--oversubscription 2:1",)),
        (("--oversubscription", ""), ("--oversubscription",)),
        (("--oversubscription", "1," * 70 + "1"), ("--oversubscription",)),
        (("--oversubscription", "0.001", "--rate", "80Tbit"), ("rate",)),
    ],
    ids=lambda value: " ".join(value) if value and value[0].startswith("--") else "",
)
def test_what_is_no_rate(hocket: Call, options: tuple[str, ...], says: tuple[str, ...]) -> None:
    refused(hocket("plan", "all-to-all", "--network", SLURM, *options), *says)


def test_auto_is_as_if_nothing_was_said(hocket: Call) -> None:
    plain = hocket("network", "show", SLURM, "--json").object()
    assert hocket("network", "show", SLURM, "--oversubscription", "auto", "--json").object() == plain


def piped(text: bytes, *arguments: object) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "hocket", *map(str, arguments)],
        input=text, capture_output=True, check=False, timeout=120,
    )  # fmt: skip
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.mark.parametrize("name", ["topology.conf", "figure1.toml", "cluster.xml"])
def test_a_network_from_standard_input(hocket: Call, name: str) -> None:
    done = piped((EXAMPLES / name).read_bytes(), "network", "show", "-", "--json")
    assert done.returncode == 0, done.stderr
    expected = hocket("network", "show", EXAMPLES / name, "--json").object()
    assert {**json.loads(done.stdout), "source": expected["source"]} == expected


def test_standard_input_is_one_file() -> None:
    text = (EXAMPLES / "fat-tree.conf").read_bytes()
    for command in (("order",), ("network", "convert"), ("plan", "all-to-all", "--forwarding", "-")):
        network = ["-"] if command[0] == "network" else ["--network", "-"]
        done = piped(text, *command, *network, *(["--hosts", "-"] if "plan" not in command else []))
        assert done.returncode == 2
        assert (
            done.stderr.strip() == "hocket: standard input: is read twice (-); name a file for one of the two"
        )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"", "standard input: is empty"),
        (b"\xff\xfe", "standard input"),
        (b"hello", "standard input: the format"),
    ],
)
def test_what_is_no_network_on_standard_input(text: bytes, says: str) -> None:
    done = piped(text, "network", "show", "-")
    assert done.returncode == 2
    assert done.stderr.startswith(f"hocket: {says}") and done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_wires_of_a_lab() -> None:
    description = read_network_description(str(SLURM))
    rates = LabOptions(rate=1e6, oversubscription=(2,)).wired(description)
    assert {link.rate for link in rates.links[:8]} == {1e6}
    assert [link.rate for link in rates.links if link.b in ("s1", "s2", "s3")] == [4e6] * 3
    assert {link.rate for link in LabOptions(uplink_rate=3e6).wired(description).links} == {125e6, 3e6}
    assert LabOptions().wired(description) == description
    assert {link.rate for link in description.links} == {125e6}  # the description is left as it was
