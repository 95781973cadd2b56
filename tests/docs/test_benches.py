"""Benches that `make bench NAME=...` knows exist, and those that pages name are known."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
BENCHES: dict[str, dict[str, Any]] = tomllib.loads((ROOT / "bench/benches.toml").read_text())
KEYS = {"asks", "run", "time", "results", "root", "alone", "packages", "needs"}
NAMED = re.compile(r"\bmake bench NAME=([\w-]+)")


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(ROOT / "bench"), *arguments], capture_output=True, text=True)


@pytest.mark.parametrize("name", BENCHES)
def test_a_bench_has_a_script_and_results(name: str) -> None:
    entry = BENCHES[name]
    assert {"asks", "run"} <= set(entry) <= KEYS
    assert (ROOT / entry["run"].split()[0]).is_file()
    for result in entry.get("results", [name]):
        assert (ROOT / f"bench/results/{result}.md").is_file()


def test_pages_and_scripts_name_benches_that_are_known() -> None:
    folders = ("docs", "bench", "papers", "tests", "python")
    paths = [
        path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in (".md", ".py")
    ]
    texts = [
        path.read_text() for path in [*paths, ROOT / "README.md", ROOT / "CONTRIBUTING.md"] if path.exists()
    ]
    assert not any("make bench-" in text for text in texts if "def test_pages_and_scripts" not in text)
    named = {name for text in texts for name in NAMED.findall(text)}
    assert named
    assert named <= set(BENCHES)


def test_they_are_listed_by_name() -> None:
    listed = bench()
    assert [line.split()[0] for line in listed.stdout.splitlines()] == list(BENCHES)


def test_an_unknown_name_is_refused() -> None:
    refused = bench("gather-lab")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == "there is no bench 'gather-lab'; `make bench` lists them\n"
