"""Files that other programs read: they parse, and what they call exists."""

import json
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


@pytest.mark.parametrize(
    "name",
    ["CITATION.cff", ".github/workflows/ci.yml", ".github/ISSUE_TEMPLATE/bug.yml", ".pre-commit-config.yaml"],
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


def test_hooks_before_a_commit_are_tools_that_lint_installs() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    tools = {hook["entry"].split()[0].removeprefix(".venv/bin/") for hook in hooks}
    installed = re.search(r"^\$\(LINT_STAMP\):.*\n\t(.*)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert tools == {"ruff", "clang-format", "codespell"}
    assert installed and all(f"'{tool}>=" in installed[1] for tool in tools)


def test_the_issue_form_asks_for_what_doctor_says() -> None:
    assert "hocket doctor --json" in (ROOT / ".github/ISSUE_TEMPLATE/bug.yml").read_text()
