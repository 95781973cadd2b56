"""`make check` finds the tests of what has changed."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SPEC = importlib.util.spec_from_file_location("check_changed", ROOT / "cmake/check_changed.py")
assert SPEC is not None and SPEC.loader is not None
check_changed = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(check_changed)


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        ("core/schedule/schedule.cpp", ["tests/schedule"]),
        ("core/network/tree_and_grid.cpp", ["tests/core_network", "tests/schedule"]),
        ("core/limits.hpp", ["tests/core_network", "tests/schedule"]),
        ("runtime/team/team.cpp", ["tests/runtime/team"]),
        ("runtime/mpi/types.cpp", ["tests/runtime/exchange"]),
        ("sort/core/elements/move.cpp", ["tests/sort/elements/test_move.py", "tests/sort/elements"]),
        ("sort/mpi/place/shared.cpp", ["tests/sort/sort"]),
        ("python/hocket/export/goal.py", ["tests/export/test_goal.py", "tests/export"]),
        (
            "python/hocket/launch/runtime/build.py",
            ["tests/runtime/compiling/test_build.py", "tests/runtime/compiling"],
        ),
        ("python/hocket/doctor/ranks.py", ["tests/cli/test_doctor.py"]),
        ("papers/nice/curves.py", ["tests/papers/nice"]),
        ("docs/running.md", ["tests/docs"]),
        ("Makefile", ["tests/structure"]),
        ("tests/schedule/test_waits.py", ["tests/schedule/test_waits.py"]),
        ("tests/runtime/programs/alltoall.c", ["tests/runtime"]),
    ],
)
def test_tests_of_a_change(changed: str, tests: list[str]) -> None:
    present = [test for test in tests if (ROOT / test).exists()]
    assert present and check_changed.chosen([changed]) == present


def test_a_helper_of_tests_has_those_that_import_it() -> None:
    found = check_changed.chosen(["tests/rank_programs.py"])
    assert found and all("rank_programs" in (ROOT / test).read_text() for test in found)


def test_what_lies_in_a_folder_that_runs_is_not_named_twice() -> None:
    assert check_changed.chosen(["docs/running.md", "tests/docs/test_links.py"]) == ["tests/docs"]


@pytest.mark.parametrize("tree", ["core", "runtime", "sort/core", "sort/mpi", "python/hocket", "papers"])
def test_every_room_has_tests(tree: str) -> None:
    rooms = [path for path in (ROOT / tree).iterdir() if path.is_dir() and path.name != "__pycache__"]
    assert rooms
    without = [room.name for room in rooms if not check_changed.chosen([f"{tree}/{room.name}/file.cpp"])]
    assert not without
