"""Collectives are told apart in the places that docs/internals.md names, and nowhere else."""

import re
from pathlib import Path

import pytest

from hocket.demand.collectives import COLLECTIVES

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs/internals.md").read_text().split("\n## Adding a collective\n")[1].split("\n## ")[0]


def files_with(pattern: str, *folders: str) -> set[str]:
    found = (
        path
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".hpp", ".cpp")
    )
    return {str(path.relative_to(ROOT)) for path in found if re.search(pattern, path.read_text())}


def test_python_says_the_names_once() -> None:
    names = "|".join(map(re.escape, COLLECTIVES))
    found = files_with(rf'[=(,\[] *"(?:{names})"(?!\))', "python/hocket")
    # Elements in memory are gathered and scattered, too.
    assert {path for path in found if "/measure/memory" not in path} == {
        "python/hocket/demand/collectives.py"
    }


def test_switches_over_patterns_are_where_the_guide_says() -> None:
    switches = files_with(r"case Pattern::", "core", "runtime", "sort", "bindings")
    assert switches and all(f"`{path}`" in GUIDE for path in switches)


@pytest.mark.parametrize(
    "path", sorted(set(re.findall(r"`((?:core|runtime|tests|python|docs)/[\w./]+\.\w+)`", GUIDE)))
)
def test_the_guide_names_files_that_exist(path: str) -> None:
    assert (ROOT / path).is_file()
