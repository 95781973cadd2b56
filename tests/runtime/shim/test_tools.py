"""Other libraries between the program and MPI: they see every call, and Hocket still schedules."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from builds import compile_once
from hocket.launch.mpi import Mpi
from reported_calls import Said

Check = Callable[..., Said]
RANKS = 4
PROGRAMS = Path(__file__).parents[1] / "programs"
COUNTED = "3 1 2 2 1"  # all-to-alls, persistent ones made, starts, waits, barriers of counted.c
SHARED = ("-shared", "-fPIC")


@pytest.fixture(scope="session")
def build(mpi: Mpi) -> Callable[..., Path]:
    """Compiles sources of tests/runtime/programs into one program or library."""

    def compile_all(name: str, *arguments: str) -> Path:
        inputs = [str(PROGRAMS / given) if given.endswith(".c") else given for given in arguments]
        return compile_once([mpi.mpicc, "-O1", "-Wall", "-Werror", *inputs], name)

    return compile_all


def all_of_them(said: Said) -> bool:
    """The all-to-alls of counted.c, blocking and persistent."""
    return (said.scheduled("MPI_Alltoall"), said.scheduled("MPI_Alltoall_init")) == (3, 1)


def saw_everything(said: str) -> None:
    for rank in range(RANKS):
        assert f"tool: rank {rank}: {COUNTED}" in said, said


def test_a_tool_linked_into_the_program(check: Check, build: Callable[..., Path]) -> None:
    said = check([str(build("counted", "counted.c", "counting_tool.c"))], "chain:2,2", RANKS)
    saw_everything(said)
    assert all_of_them(said)


def test_a_tool_that_is_a_library_of_the_program(check: Check, build: Callable[..., Path]) -> None:
    tool = build("libtool.so", "counting_tool.c", *SHARED)
    program = build("counted", "-Wl,--no-as-needed", f"-Wl,-rpath,{tool.parent}", str(tool), "counted.c")
    said = check([str(program)], "chain:2,2", RANKS)
    saw_everything(said)
    assert all_of_them(said)


@pytest.mark.parametrize("order", ["{tool}:$LD_PRELOAD", "$LD_PRELOAD:{tool}"])
def test_a_preloaded_tool(check: Check, build: Callable[..., Path], order: str) -> None:
    tool = build("libtool.so", "counting_tool.c", *SHARED)
    said = check("counted", "chain:2,2", RANKS, exports={"LD_PRELOAD": order.format(tool=tool)})
    saw_everything(said)
    assert all_of_them(said)


def test_tools_that_the_user_preloads_come_first(check: Check, build: Callable[..., Path]) -> None:
    """There they cannot get past Hocket, however they find the next function."""
    tool = build("libtool.so", "counting_tool.c", *SHARED, "-DASKS_THE_LINKER", "-ldl")
    said = check("counted", "chain:2,2", RANKS, env={"LD_PRELOAD": str(tool)})
    saw_everything(said)
    assert all_of_them(said)


def test_a_tool_that_hides_calls(check: Check, build: Callable[..., Path]) -> None:
    """The tool's own requests must not be ones that only Hocket completes."""
    tool = build("libtool.so", "counting_tool.c", *SHARED, "-DASKS_THE_LINKER", "-ldl")
    said = check("counted", "chain:2,2", RANKS, exports={"LD_PRELOAD": f"$LD_PRELOAD:{tool}"})
    saw_everything(said)
    assert said.scheduled() == 0
    assert said.count("preload the tool before Hocket") == 1


@pytest.mark.parametrize("scope", ["local", "global"])
@pytest.mark.parametrize(("how", "scheduled"), [("names", 1), ("default", 1), ("handle", 0)])
def test_mpi_that_is_opened_late(
    check: Check, build: Callable[..., Path], scope: str, how: str, scheduled: int
) -> None:
    """Whoever takes functions out of the MPI library's own handle goes past Hocket, which does no harm."""
    program = build("late_mpi", "late_mpi.c", "-Wl,--as-needed", "-ldl")
    plugin = build("plugin.so", "late_mpi.c", *SHARED, "-DPLUGIN", "-ldl")
    said = check([str(program), str(plugin), scope, how], "chain:2,2", RANKS)
    assert said.scheduled("MPI_Alltoall") == scheduled
