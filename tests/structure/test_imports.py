"""A package imports only packages above it in the table of python/README.md; no files import each other in a circle."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

PYTHON = Path(__file__).parents[2] / "python"
ROOMS = re.findall(r"^\| `(\w+)` \|", (PYTHON / "README.md").read_text(), re.MULTILINE)


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(PYTHON).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_of(path): path for path in sorted((PYTHON / "hocket").rglob("*.py"))}


def imported(path: Path) -> Iterator[str]:
    """The package's modules that ``path`` imports anywhere: at its head, in functions, for types."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                if inner in MODULES:
                    yield inner
                elif node.module in MODULES and alias.name not in ("_core", "__version__"):
                    yield node.module


def room(module: str) -> str:
    return module.split(".")[1]


def test_packages_import_only_packages_above_them() -> None:
    assert len(MODULES) > 100
    wrong = [
        f"{module} imports {other}"
        for module, path in MODULES.items()
        if module != "hocket"
        for other in imported(path)
        if other == "hocket" or ROOMS.index(room(other)) > ROOMS.index(room(module))
    ]
    assert not wrong, "\n".join(wrong)


def test_the_readme_names_every_package() -> None:
    assert set(ROOMS) == {room(module) for module in MODULES if module != "hocket"}


def test_at_the_top_are_few_files() -> None:
    assert {path.name for path in (PYTHON / "hocket").glob("*.py")} == {
        "__init__.py",
        "__main__.py",
        "errors.py",
        "units.py",
    }


def test_commands_share_what_lies_in_shared_alone() -> None:
    wrong = [
        f"{module} imports {other}"
        for module, path in MODULES.items()
        if module.startswith("hocket.cli._shared")
        for other in imported(path)
        if other.startswith("hocket.cli") and not other.startswith("hocket.cli._shared")
    ]
    assert not wrong, "\n".join(wrong)


def test_no_circles() -> None:
    needs = {module: set(imported(path)) - {module} for module, path in MODULES.items()}
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        pytest.fail(f"files that import each other: {' -> '.join(error.args[1])}")


@pytest.mark.parametrize("asked", ["import hocket", "from hocket.cli import main; main(['--help'])"])
def test_what_begins_every_command_is_light(asked: str) -> None:
    heavy = "{'numpy', 'matplotlib', 'rich', 'yaml', 'hocket._core'}"
    script = f"import sys; {asked}; assert not {heavy} & set(sys.modules), sorted(sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60, stdout=subprocess.DEVNULL)
