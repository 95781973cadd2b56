"""Gains and overheads that README and the evidence page quote are those of the result files."""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from pathlib import Path
from statistics import median

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
sys.path.insert(0, str(Path(__file__).parents[2] / "bench/pictures"))
from native_and_scheduled import SLOTS, between_switches, both, chain_with_ranks_at_random, messages_at_once

from results_file import RESULTS, ROOT, read, values

PAGES = {name: (ROOT / name).read_text() for name in ("README.md", "docs/evidence.md")}
CALLS = {
    "all-to-all": "alltoall",
    "all-gather": "allgather",
    "all-reduce": "allreduce",
    "reduce-scatter": "reduce_scatter",
    "broadcast": "bcast",
}
COLUMNS = [("mpich", False), ("openmpi", False), ("mpich", True), ("openmpi", True)]  # at random?
SIZES = {"32 KiB": 32768, "16 KiB": 16384, "1 MiB": 1048576}


def gains() -> dict[tuple[str, int, str, bool], str]:
    """Time of the first job over the native one, by call, bytes, MPI and whether ranks lie at random."""
    ratios: dict[tuple[str, int, str, bool], list[float]] = defaultdict(list)
    for row in read(RESULTS / "gains-32-hosts.csv")[1]:
        key = (row["collective"], int(row["bytes"]), row["mpi"], "shuffle" in row["place"])
        ratios[key] += [a / b for a, b in zip(values(row["first"]), values(row["native"]), strict=True)]
    return {key: f"{median(values):.2f}" for key, values in ratios.items()}


def told(page: str) -> dict[tuple[str, int], list[str]]:
    """Figures of each row of the table of gains, in the order of the columns."""
    rows = {}
    for line in PAGES[page].partition("### Beside the best")[0].splitlines():
        if not (match := re.match(rf"\| ({'|'.join(CALLS)})\b(.*)\|$", line)):
            continue
        size = next((SIZES[text] for text in SIZES if text in match[2]), 0)
        size = size or int((re.search(r"\| (\d{4,}) \|", match[2]) or ["", "0"])[1])
        if not size:
            continue
        cells = [cell.replace("*", "") for cell in match[2].split("|")[1:]]
        if page == "README.md":
            cells = cells[::2]  # beside each the same over the best algorithm
        rows[CALLS[match[1]], size] = [f for cell in cells for f in re.findall(r"\b\d\.\d\d\b|–", cell)]
    return rows


@pytest.mark.parametrize("page", PAGES)
def test_gains_are_those_of_the_results(page: str) -> None:
    measured = gains()
    rows = told(page)
    assert len(rows) == len(CALLS)
    for (call, size), figures in rows.items():
        columns = COLUMNS if len(figures) == 4 else [*COLUMNS[:2], COLUMNS[2]]  # one dash for both MPIs
        for figure, column in zip(figures, columns, strict=True):
            assert measured.get((call, size, *column), "–") == figure, (call, size, column)


def test_figures_over_the_best_algorithm_are_those_of_the_results() -> None:
    measured = {}
    for line in (RESULTS / "best-native.md").read_text().splitlines():
        if len(cells := [cell.strip() for cell in line.split("|")[1:-1]]) == 11:
            measured[cells[2], cells[1], "shuffle" in cells[0]] = cells[10]
    readme, evidence = (PAGES[page].replace("*", "") for page in ("README.md", "docs/evidence.md"))
    evidence = evidence.partition("### Beside the best")[2].partition("\n### ")[0]
    for name, call in CALLS.items():
        expected = [
            [measured.get((call, mpi, at_random), "–") for mpi in ("mpich", "openmpi")]
            for at_random in (False, True)
        ]
        for page, columns in ((readme, slice(3, -1, 2)), (evidence, slice(2, -1))):
            (line,) = re.findall(rf"^\| {name}\b.*\|$", page, re.MULTILINE)
            told = [re.findall(r"\d\.\d\d|–", cell) for cell in line.split("|")[columns]]
            assert [cell or ["–", "–"] for cell in told] == expected, name


@pytest.mark.parametrize("page", PAGES)
def test_overheads_are_those_of_the_results(page: str) -> None:
    text = " ".join(PAGES[page].split())
    cells = re.findall(
        r"^\|(?: [^|]* \|){6} (\d\.\d\d) ", (RESULTS / "overhead.md").read_text(), re.MULTILINE
    )
    below, highest = re.findall(
        r"^(\d+) of \d+ cells.*highest ([\d.]+)\.$", (RESULTS / "overhead.md").read_text(), re.M
    )[0]
    few = sum(float(cell) <= 0.85 for cell in cells)
    assert f"{few} of {len(cells)}" in text
    assert f"{below} of {len(cells)}" in text or f"{len(cells) - int(below)} more than 1.05" in text
    worst = re.search(r"[Tt]he worst takes ([\d.]+\d)", text)
    assert worst and f"{float(highest):.{len(worst[1]) - 2}f}" == worst[1]


def test_other_machines_are_those_of_the_results() -> None:
    found = re.findall(
        r"^\| (all|fugaku|leonardo) \| (\d+) \| ([\d.]+)% \| \d+% \| ([\d.]+)% \| (\d+)% \(",
        (RESULTS / "public-machines.md").read_text(), re.MULTILINE,
    )  # fmt: skip
    assert [name for name, *_ in found] == ["all", "fugaku", "leonardo"]
    page = PAGES["docs/evidence.md"].replace("*", "")
    rows = {"blind cells": 1, "median error": 2, "cells within": 3, "best measured": 4}
    for begin, column in rows.items():
        (line,) = re.findall(rf"^\| {begin}.*\|$", page, re.MULTILINE)
        told = [cell.strip().removesuffix(" %") for cell in line.split("|")[3:-1]]
        assert told == [row[column] for row in found], begin


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_the_picture_shows_as_many_messages_as_its_text_says(page: str) -> None:
    network = chain_with_ranks_at_random(1)
    most = [
        round(messages_at_once(run, schedule, network, between_switches(network), SLOTS).max())
        for _, schedule, run in both(network)
    ]
    match = re.search(r"between switches: up to (\d+) natively, one with Hocket", (ROOT / page).read_text())
    assert match and most == [int(match[1]), 1]


@pytest.mark.parametrize(
    ("result", "begin", "calls"),
    [
        ("order-lab", r"\*\*What it gains\.\*\*", ("allgather", "allreduce", "halo")),
        ("order-lab-20mbit", "At 20 Mbit/s all-gathers", ("allgather",)),
    ],
)
def test_gains_of_orders_are_those_of_the_results(result: str, begin: str, calls: tuple[str, ...]) -> None:
    rows = re.findall(
        r"^\| (\w+) \| 1 \| (\w+) \| \d+ \|[^|]*\|[^|]*\| ([\d.]+) \|",
        (RESULTS / f"{result}.md").read_text(), re.MULTILINE,
    )  # fmt: skip
    measured = {(mpi, call): f"{float(gain):.1f}" for mpi, call, gain in rows}
    told = re.search(rf"{begin}.*?\n\n", (ROOT / "docs/running.md").read_text(), re.DOTALL)
    assert told
    assert re.findall(r"\b\d\.\d\b", told[0]) == [
        measured[mpi, call] for call in calls for mpi in ("mpich", "openmpi")
    ]
