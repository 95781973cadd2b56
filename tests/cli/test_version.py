"""The version, wherever it is said; ``python -m hocket``; the marker of a typed package."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import hocket
from hocket.launch.runtime.build import include_dir

ROOT = Path(__file__).parents[2]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def test_the_package_says_its_version() -> None:
    assert hocket.__version__ == VERSION
    with pytest.raises(AttributeError, match="no attribute '__versions__'"):
        hocket.__versions__  # noqa: B018


def test_it_is_not_looked_up_before_it_is_wanted() -> None:
    code = f"import sys; sys.path.insert(0, {str(ROOT / 'python')!r}); "
    code += "import hocket; print('importlib.metadata' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-Sc", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout == "False\n"


@pytest.mark.parametrize(
    "folder", [include_dir(), ROOT / "runtime" / "include"], ids=["installed", "sources"]
)
def test_the_header_says_the_same(folder: Path) -> None:
    text = (folder / "hocket.h").read_text()
    parts = [
        re.findall(rf"^#define HOCKET_VERSION_{part} (\d+)$", text, re.M)
        for part in ("MAJOR", "MINOR", "PATCH")
    ]
    assert ".".join(number for (number,) in parts) == VERSION


def test_as_a_module() -> None:
    command = [sys.executable, "-m", "hocket"]
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == f"hocket {VERSION}\n"
    wrong = subprocess.run([*command, "no-such"], capture_output=True, text=True, timeout=60, check=False)
    assert wrong.returncode == 2 and wrong.stderr.startswith("hocket: ")


def test_the_package_is_marked_as_typed() -> None:
    assert (Path(hocket.__file__).parent / "py.typed").exists()
