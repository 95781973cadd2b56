"""A room includes only rooms above it in the table of its README, and no sources include each other in a circle."""

import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TREES = {
    "core": (),
    "sort/core": ("core",),
    "runtime": ("core",),
    "sort/include": ("runtime",),
    "sort/mpi": ("core", "sort/core", "runtime", "sort/include"),
}  # and what each uses
SUFFIXES = {".c", ".cpp", ".h", ".hpp"}


def files(tree: str) -> Iterator[Path]:
    yield from (path for path in sorted((ROOT / tree).rglob("*")) if path.suffix in SUFFIXES)


def rooms(tree: str) -> list[str]:
    """Rooms in the README's order, the one that uses no other first. Trees within a folder share its
    README."""
    folder, _, part = tree.partition("/")
    begin = re.escape(f"{part}/" if part else "")
    return re.findall(rf"^\| `{begin}(\w+)/` \|", (ROOT / folder / "README.md").read_text(), re.MULTILINE)


def place(path: Path) -> tuple[str, str]:
    """Tree and room; the room is empty for files that belong to none."""
    tree = next(tree for tree in TREES if path.is_relative_to(ROOT / tree))
    inner = path.relative_to(ROOT / tree).parts
    return tree, inner[0] if len(inner) > 1 else ""


def included(path: Path) -> Iterator[Path]:
    """The project's files that ``path`` includes."""
    for name in re.findall(r'^\s*#\s*include "([^"]+)"', path.read_text(), re.MULTILINE):
        bases = (path.parent, ROOT, ROOT / "runtime/include", ROOT / "sort/include")
        found = [base / name for base in bases if (base / name).is_file()]
        assert found, f"{path.relative_to(ROOT)} includes {name}, which is nowhere"
        yield found[0].resolve()


def unit(path: Path) -> str:
    """A source with its header."""
    return path.with_suffix("").relative_to(ROOT).as_posix()


def may_use(path: Path, other: Path) -> bool:
    (tree, room), (its_tree, its_room) = place(path), place(other)
    if tree != its_tree:
        return its_tree in TREES[tree]
    order = ["", "include", *rooms(tree)]
    return order.index(its_room) <= order.index(room)


@pytest.mark.parametrize("tree", TREES)
def test_rooms_include_only_rooms_above_them(tree: str) -> None:
    sources = list(files(tree))
    assert sources
    wrong = [
        f"{path.relative_to(ROOT)} includes {other.relative_to(ROOT)}"
        for path in sources
        for other in included(path)
        if not may_use(path, other)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("tree", TREES)
def test_the_readme_names_every_room(tree: str) -> None:
    found = {room for tree_, room in map(place, files(tree)) if tree_ == tree and room}
    assert found - {"include"} == set(rooms(tree))


@pytest.mark.parametrize("folder", ("runtime", "sort"))
def test_tests_lie_in_the_rooms_of_what_they_test(folder: str) -> None:
    """``compiling`` is of python/hocket/launch/runtime."""
    found = {
        path.parent.relative_to(ROOT / "tests" / folder).as_posix()
        for path in (ROOT / "tests" / folder).rglob("test_*.py")
    }
    known = {room for tree in TREES if tree.split("/")[0] == folder for room in rooms(tree)}
    assert found - {"compiling"} <= known


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
