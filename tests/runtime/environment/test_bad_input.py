"""Wrong variables and files of the runtime: said once with the remedy, and every byte is right."""

from __future__ import annotations

import os
import random
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from builds import compile_once
from hocket import _core
from hocket.cli.run import run
from hocket.launch.mpi import Mpi
from mpi_programs import hocket_here
from plan_store_program import compile_command
from reported_calls import Said

pytestmark = pytest.mark.by_turns

Check = Callable[..., Said]

SUBSETS = "subsets 300"
LOW = {"HOCKET_MIN_BYTES": "1"}
FIRST = "${PMI_RANK:-$PMIX_RANK}"
ROOT = Path(__file__).parents[3]


def plan_of(network: str, path: Path) -> Path:
    command = ["plan", "all-to-all", "--network", network, "--bytes", "64KiB", "-o", str(path)]
    assert hocket_here(command).returncode == 0
    return path


def test_every_wrong_value_is_said_once(check: Check) -> None:
    wrong = {
        "HOCKET_LOG": "loud",
        "HOCKET_FLOW_CONTROL": "fast",
        "HOCKET_SEGMENT": "99999999999999999999999",
        "HOCKET_MIN_BYTE": "1",
        "HOCKET_WHATEVER_THIS_IS": "1",
        "HOCKET_MIN_BYTES": "-1",
        "HOCKET_HOST_MEMORY": "none",
    }
    said = check(SUBSETS, "chain:2,2", 4, exports=wrong)  # hocket run sets some itself
    for line in (
        "HOCKET_LOG='loud' is not a whole number from 0 to 2; using 0",
        "HOCKET_FLOW_CONTROL='fast' is not token, barrier or free; using token",
        "HOCKET_SEGMENT='99999999999999999999999' is not",
        "no variable of Hocket is called HOCKET_MIN_BYTE; did you mean HOCKET_MIN_BYTES?",
        "no variable of Hocket is called HOCKET_WHATEVER_THIS_IS\n",
        "HOCKET_MIN_BYTES='-1' is not",
        "HOCKET_HOST_MEMORY='none' is not",
    ):
        assert said.count(line) == 1, said


def test_a_wrong_value_on_one_rank(check: Check) -> None:
    value = f'$(test {FIRST} = 2 && printf "\\033[31mred")'
    said = check(SUBSETS, "chain:2,2", 4, exports={"HOCKET_LOG": f'"{value}"'})
    assert said.count("HOCKET_LOG='?[31mred' is not a whole number") == 1, said


@pytest.mark.parametrize(
    ("variable", "values", "differing"),
    [
        ("HOCKET_MIN_BYTES", ("1", "1000000"), "HOCKET_MIN_BYTES"),
        ("HOCKET_FLOW_CONTROL", ("token", "free"), "HOCKET_FLOW_CONTROL"),
        ("HOCKET_SEGMENT", ("1024", "2048"), "ranks differ in HOCKET_SEGMENT"),
        ("HOCKET_PLAN", ("''", "/nonexistent"), "HOCKET_PLAN is not set"),
    ],
)
def test_ranks_that_differ(check: Check, variable: str, values: tuple[str, str], differing: str) -> None:
    """Whatever they differ in, they must agree on who serves a call."""
    value = f"$(test {FIRST} = 0 && echo {values[0]} || echo {values[1]})"
    exports = {**LOW, variable: value}
    said = check(SUBSETS, "chain:2,2", 4, exports=exports)
    assert said.count(differing) == 1, said
    assert said.scheduled(ranks=4) == 0


def test_what_may_differ(check: Check) -> None:
    said = check(SUBSETS, "chain:2,2", 4, exports={**LOW, "HOCKET_LOG": f"$(({FIRST} % 3))"})
    assert said.scheduled("MPI_Alltoall", ranks=4) > 0 and "differ" not in said


def test_a_plan_that_one_rank_cannot_read(check: Check, tmp_path: Path) -> None:
    plan = plan_of("chain:2,2", tmp_path / "plan.hkt")
    value = f"$(test {FIRST} = 3 && echo /nonexistent/plan || echo {plan})"
    said = check(SUBSETS, "chain:2,2", 4, exports={**LOW, "HOCKET_PLAN": value})
    assert said.count("cannot read the plan '/nonexistent/plan'") == 1, said
    assert said.scheduled("MPI_Alltoall", ranks=3) > 0 == said.scheduled(ranks=4)  # without that rank


@pytest.mark.parametrize(
    "kind", ["another network", "fewer ranks", "empty", "directory", "pipe", "text", "zeros"]
)
def test_no_plan_for_this(check: Check, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "plan.hkt"
    complaint = "plan.hkt"
    if kind == "another network":
        plan_of("star:3", path)
        complaint = "rank 3 has no host: the network has 3 ranks"
    elif kind == "fewer ranks":
        plan_of("chain:5,5", path)
        complaint = ""
    elif kind == "directory":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.write_bytes({"empty": b"", "text": b"no plan\n" * 99, "zeros": bytes(4096)}[kind])
    said = check(SUBSETS, "chain:2,2", 4, exports={**LOW, "HOCKET_PLAN": str(path)})
    assert (said.scheduled("MPI_Alltoall", ranks=4) > 0) is not bool(complaint)
    assert not complaint or said.count(complaint) == 1, said


@pytest.mark.parametrize("mpi", ["mpich"], indirect=True)
def test_any_damage(mpi: Mpi, tmp_path: Path) -> None:
    """Some hundred damaged plans, read as a rank reads its own: refused with a message, or as good as new."""
    program = compile_once(compile_command(mpi.mpicc), "plan_store")
    plan = plan_of("chain:3,2", tmp_path / "plan.hkt")
    done = subprocess.run(
        [program, "damaged", str(plan), str(tmp_path / "damaged.hkt"), "500"],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    refused, whole = map(int, done.stdout.split())
    assert refused + whole == 500 and refused > 450, done.stdout


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"n0\nn1\n", "no line for rank 2; write one host name per rank"),
        (b"n0\nn1\nn2\nnobody\n", "host 'nobody' of rank 3 is not in the network file"),
        (bytes(range(128, 256)) + b"\n", "' of rank 0 is not in the network file"),
        (b"x" * 3_000_000, "... of rank 0 is not in the network file".replace("... ", "...' ")),
    ],
)
def test_placement_files(check: Check, tmp_path: Path, content: bytes, complaint: str) -> None:
    path = tmp_path / "places"
    path.write_bytes(content)
    said = check(SUBSETS, "chain:2,2", 4, exports={**LOW, "HOCKET_PLACEMENT": str(path)})
    assert said.count(complaint) == 1, said
    assert max(map(len, said.splitlines())) < 1100 and "�" not in said


@pytest.mark.parametrize("runtime", ["/nonexistent.so", "/etc/passwd", "libm", "of no MPI"])
def test_a_runtime_that_is_none(mpi: Mpi, check: Check, runtime: str, tmp_path: Path) -> None:
    if runtime == "libm":
        runtime = str(tmp_path / "empty.so")
        subprocess.run(["cc", "-shared", "-x", "c", "/dev/null", "-o", runtime], check=True, timeout=60)
    value = "/${HOCKET_RUNTIME#*/}" if runtime == "of no MPI" else f"${{HOCKET_RUNTIME%%/*}}{runtime}"
    said = check(SUBSETS, "chain:2,2", 4, exports={"HOCKET_RUNTIME": f'"{value}"'})
    assert said.count("hocket: not active:") == 1, said


def test_the_docs_name_every_variable() -> None:
    text = "".join(path.read_text() for path in (ROOT / "docs").rglob("*.md"))
    for variable in _core.Variable.all():
        assert f"`{variable.name}`" in text, variable.name


def test_the_docs_have_the_defaults_and_what_is_alike() -> None:
    text = (ROOT / "docs/commands.md").read_text()
    rows = re.findall(r"^\| `(HOCKET_\w+)`( †)? \|.*\| (.+) \|$", text, re.MULTILINE)
    said = {name: (bool(mark), default) for name, mark, default in rows}
    settings = [variable for variable in _core.Variable.all() if variable.kind != "text"]
    assert len(settings) >= 10
    for variable in settings:
        default = str(variable.fallback) if variable.kind == "number" else f"`{variable.words[0]}`"
        assert said[variable.name] == (variable.must_match, default), variable.name


def test_the_help_of_options_says_what_the_variables_mean() -> None:
    text = " ".join(CliRunner().invoke(run, ["--help"], terminal_width=200).output.split())
    asked = ("HOCKET_MIN_BYTES", "HOCKET_ALGORITHM")
    for variable in _core.Variable.all():
        if variable.name in asked:
            assert variable.meaning[1:] in text and f"[default: {variable.name}" in text


def test_the_sources_ask_for_known_variables_only() -> None:
    known = {variable.name for variable in _core.Variable.all()}
    asked = set[str]()
    patterns = (
        r'(?:getenv|number|text|list|find_variable|environ\.get)\("(HOCKET_[A-Z_]+)"',
        r'"(HOCKET_[A-Z_]+)": ',
    )
    for folder in ("runtime", "sort", "python"):
        for path in (ROOT / folder).rglob("*.*"):
            if path.suffix in (".cpp", ".hpp", ".c", ".h", ".py"):
                for pattern in patterns:
                    asked |= set(re.findall(pattern, path.read_text()))
    assert {"HOCKET_PLAN", "HOCKET_RUNTIME", "HOCKET_MEMORY"} <= asked
    assert {name for name in asked if not name.startswith("HOCKET_TEST_")} <= known


def test_any_environment() -> None:
    """A line for each wrong variable, printable and short."""
    draw = random.Random(7)
    names = [variable.name for variable in _core.Variable.all()] + ["HOCKET_", "HOCKET", "PATH"]
    values = ["", "0", "18446744073709551616", "-1", " 1", "1 ", "\x1b[1m", "x" * 5000, "token"]
    for _ in range(300):
        name = draw.choice(names)
        if draw.random() < 0.5:
            at = draw.randrange(len(name) + 1)
            name = name[:at] + draw.choice("AZ_x") * draw.choice((1, 2, 500)) + name[at:]
        for line in _core.Variable.complaints([f"{name}={draw.choice(values)}", name]):
            assert line.isprintable() and len(line) < 400
            assert line.startswith(("HOCKET_", "no variable of Hocket is called HOCKET_"))
