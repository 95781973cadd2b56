"""Recipes for package managers name the version of the package, and all that it needs at run time."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# EasyBuild has numpy in a bundle of several packages; Apptainer's recipe leaves dependencies to pip.
RECIPES = {
    "spack/package.py": r"\bpy-{}@{}",
    "conda/recipe.yaml": r"- {}(?:-base)? >={}$",
    "easybuild/Hocket-0.1.0-gfbf-2023b.eb": r"{}\b",
}


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_has_version_and_dependencies(name: str) -> None:
    text = (ROOT / "packaging" / name).read_text()
    assert re.search(rf"\bversion\W+{re.escape(PROJECT['version'])}\b", text)
    missing = [
        dependency
        for dependency in PROJECT["dependencies"]
        if not re.search(
            RECIPES[name].format(*map(re.escape, dependency.split(">="))), text, re.MULTILINE | re.IGNORECASE
        )
    ]
    assert missing == []
