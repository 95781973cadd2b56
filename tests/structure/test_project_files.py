"""Files that other programs read: they parse, and what they call exists."""

import json
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


@pytest.mark.parametrize(
    "name", ["CITATION.cff", ".github/workflows/ci.yml", ".github/ISSUE_TEMPLATE/bug.yml"]
)
def test_yaml(name: str) -> None:
    assert yaml.safe_load((ROOT / name).read_text())


def test_the_version_that_is_cited_is_that_of_the_package() -> None:
    stated = re.search(r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert stated and yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == stated[1]


def test_presets_set_options_that_exist() -> None:
    options = set(re.findall(r"option\((\w+)", (ROOT / "CMakeLists.txt").read_text()))
    presets = json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]
    assert {name for one in presets for name in one["cacheVariables"]} <= options | {"CMAKE_BUILD_TYPE"}


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", ".github/workflows/ci.yml"])
def test_make_targets_exist(name: str) -> None:
    called = set(re.findall(r"make ([a-z-]+)", (ROOT / name).read_text()))
    assert called and called <= TARGETS
