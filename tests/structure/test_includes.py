"""A room includes only rooms above it in the table of its README, and no sources include each other in a circle."""

import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TREES = ("core", "runtime", "sort")  # each uses only those before it
SUFFIXES = {".c", ".cpp", ".h", ".hpp"}


def files(tree: str) -> Iterator[Path]:
    yield from (path for path in sorted((ROOT / tree).rglob("*")) if path.suffix in SUFFIXES)


def rooms(tree: str) -> list[str]:
    """As the README has them, the one that uses no other first."""
    return re.findall(r"^\| `(\w+)/` \|", (ROOT / tree / "README.md").read_text(), re.MULTILINE)


def place(path: Path) -> tuple[str, str]:
    """Tree and room; the room is empty for files that belong to none."""
    tree, *inner = path.relative_to(ROOT).parts
    return tree, inner[0] if len(inner) > 1 else ""


def included(path: Path) -> Iterator[Path]:
    """The project's files that ``path`` includes."""
    for name in re.findall(r'^\s*#\s*include "([^"]+)"', path.read_text(), re.MULTILINE):
        bases = (path.parent, ROOT, ROOT / "runtime/include")
        found = [base / name for base in bases if (base / name).is_file()]
        assert found, f"{path.relative_to(ROOT)} includes {name}, which is nowhere"
        yield found[0].resolve()


def unit(path: Path) -> str:
    """A source with its header."""
    return path.with_suffix("").relative_to(ROOT).as_posix()


def order_of(path: Path) -> tuple[int, int]:
    tree, room = place(path)
    return TREES.index(tree), rooms(tree).index(room) if room in rooms(tree) else -1


@pytest.mark.parametrize("tree", TREES)
def test_rooms_include_only_rooms_above_them(tree: str) -> None:
    sources = list(files(tree))
    assert len(sources) > 50
    wrong = [
        f"{path.relative_to(ROOT)} includes {other.relative_to(ROOT)}"
        for path in sources
        for other in included(path)
        if order_of(other) > order_of(path)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("tree", TREES)
def test_the_readme_names_every_room(tree: str) -> None:
    found = {room for tree_, room in map(place, files(tree)) if tree_ == tree and room}
    assert found - {"include"} == set(rooms(tree))


@pytest.mark.parametrize("tree", ("runtime", "sort"))
def test_tests_lie_in_the_rooms_of_what_they_test(tree: str) -> None:
    """``compiling`` is of python/hocket/runtime."""
    found = {
        path.parent.relative_to(ROOT / "tests" / tree).as_posix()
        for path in (ROOT / "tests" / tree).rglob("test_*.py")
    }
    assert found - {"compiling"} <= set(rooms(tree))


def test_no_circles() -> None:
    needs: dict[str, set[str]] = {}
    for tree in TREES:
        for path in files(tree):
            needs.setdefault(unit(path), set()).update(unit(other) for other in included(path))
    for name, others in needs.items():
        others.discard(name)
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        pytest.fail(f"sources that include each other: {' -> '.join(error.args[1])}")
