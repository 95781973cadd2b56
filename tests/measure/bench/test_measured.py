"""hocket bench with both MPIs, as it starts ranks and as the program of a job; wrong bytes are found."""

from __future__ import annotations

import csv
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hocket.cli import cli
from hocket.launch.job import in_a_job
from hocket.launch.mpi import Mpi, launch_command
from mpi_programs import python_env

pytestmark = pytest.mark.by_turns

NETWORK = ("--network", "chain:2,2", "--placement", "order")
HOCKET = (sys.executable, "-m", "hocket")
QUICK = ("--time", "0.02")
# Irregular exchanges of four ranks gain nothing on one machine; scheduled all the same.
EVERYTHING = {"HOCKET_MIN_BYTES": "1024"}


def run(*command: object, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, timeout=120, check=False,
        env={**os.environ, **(env or {})},
    )  # fmt: skip


def started(
    mpi: Mpi, pattern: str, *arguments: object, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """``hocket bench`` that starts four ranks itself."""
    python_env(mpi)
    words = ["bench", pattern, "-n", 4, "--mpi", mpi.mpiexec, *QUICK, *arguments]
    return run(*HOCKET, *words, env=env)


def rows(done: subprocess.CompletedProcess[str]) -> dict[int, dict[str, Any]]:
    """Rows of the JSON object on standard output, by size."""
    assert done.returncode == 0, done.stdout + done.stderr
    return {row["bytes"]: row for row in json.loads(done.stdout)["rows"]}


@pytest.mark.parametrize(("pattern", "crossing"), [("all-to-all", 4), ("all-gather", 3)])
def test_large_messages_are_scheduled_small_ones_passed_on(mpi: Mpi, pattern: str, crossing: int) -> None:
    found = rows(started(mpi, pattern, *NETWORK, "--sizes", "8,64K", "--json"))
    assert {size: row["served"] for size, row in found.items()} == {8: "MPI library", 65536: "schedule"}
    for size, row in found.items():
        assert row["wrong"] == ""
        assert row["bound"] == pytest.approx(size * crossing * 8e-9)
        assert row["ratio"] > 0
        for times in row["native"], row["scheduled"]:
            assert times["calls"] >= 6
            assert 0 < times["least"] <= times["p10"] <= times["median"] <= times["p90"] <= times["most"]


def test_every_candidate(mpi: Mpi) -> None:
    done = started(mpi, "all-gather", *NETWORK, "--sizes", "8,64K", "--json", "--candidates")
    candidates = json.loads(done.stdout)["Candidates"].split()
    assert candidates[:2] == ["native", "window-1"]
    for row in rows(done).values():
        assert list(row["candidates"]) == candidates and row["wrong"] == "" and row["choice"] in candidates
        assert row["native"] == row["candidates"]["native"]
        medians = {name: times["median"] for name, times in row["candidates"].items()}
        assert row["regret"] == pytest.approx(medians[row["choice"]] / min(medians.values()) - 1)


def test_candidates_need_a_runtime(mpi: Mpi) -> None:
    done = started(mpi, "all-to-all", "--sizes", "8", "--candidates")
    assert done.returncode == 2 and "there are no candidates" in done.stderr and not done.stdout


def test_irregular_messages(mpi: Mpi) -> None:
    arguments = ("--sizes", "8,64K", "--density", 0.9, "--seed", 7, "--json")
    found = rows(started(mpi, "alltoallv", *NETWORK, *arguments, env=EVERYTHING))
    assert {size: row["served"] for size, row in found.items()} == {8: "MPI library", 65536: "schedule"}
    assert all(row["wrong"] == "" and row["bound"] > 0 for row in found.values())


def test_without_a_network_only_the_library_is_measured(mpi: Mpi) -> None:
    found = rows(started(mpi, "all-to-all", "--sizes", "64K", "--json"))
    assert found[65536]["scheduled"] is found[65536]["ratio"] is found[65536]["bound"] is None


def test_the_runtime_says_why_nothing_is_scheduled(mpi: Mpi) -> None:
    """The ranks go by this machine's name, which the network does not know."""
    done = started(mpi, "all-to-all", "--network", "star:4", "--sizes", "64K", "--json")
    assert rows(done)[65536]["served"] == "MPI library"
    assert done.stderr.startswith("hocket: ") and done.stderr.count("\n") == 1
    assert "the MPI library serves this communicator" in done.stderr


def test_table_csv_and_picture(mpi: Mpi, tmp_path: Path) -> None:
    files = ("--csv", tmp_path / "times.csv", "--plot", f"times={tmp_path / 'times.svg'}")
    done = started(mpi, "all-to-all", *NETWORK, "--sizes", "8:64K:8", *files)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    table = [line.split() for line in lines if not line.startswith("#")]
    assert [line[0] for line in table] == ["8", "64", "512", "4096", "32768"]
    assert {line[-1] for line in table} == {"Pass"}
    comments = [line for line in (tmp_path / "times.csv").read_text().splitlines() if line.startswith("#")]
    assert comments == lines[: len(comments)]
    assert any(line.startswith("# Ranks") and "4 on 1 machine" in line for line in comments)
    data = (tmp_path / "times.csv").read_text().splitlines()[len(comments) :]
    assert [row["bytes"] for row in csv.DictReader(data)] == [line[0] for line in table]
    assert (tmp_path / "times.svg").read_text().rstrip().endswith("</svg>")


def test_as_the_program_of_hocket_run(mpi: Mpi) -> None:
    env = python_env(mpi)
    done = run(
        *HOCKET, "run", *NETWORK, "-n", 4, "--mpi", mpi.mpiexec, "--",
        *HOCKET, "bench", "all-to-all", *QUICK, "--sizes", "8,64K", "--json", env=env,
    )  # fmt: skip
    found = rows(done)
    assert [row["served"] for row in found.values()] == ["MPI library", "schedule"]
    assert found[65536]["bound"] == pytest.approx(65536 * 4 * 8e-9)  # of the job's plan


EACH = """
import sys
from hocket.cli import main

for pattern in sys.argv[1].split(","):
    try:
        main(["bench", pattern, *sys.argv[2:]])
    except SystemExit as end:
        if end.code:
            raise
"""

BOUNDS = {"all-to-all": 4, "all-gather": 3, "irregular": None, "reduce-scatter": 3, "all-reduce": 1.5, "broadcast": 1,
          "reduce": 1}  # fmt: skip


def test_in_a_prepared_shell(mpi: Mpi, tmp_path: Path) -> None:
    """``hocket env`` and the launcher as it is: a job of the shell schedules, and so does one that bench starts."""
    env = python_env(mpi)
    each = tmp_path / "each.py"
    each.write_text(EACH)
    what = [*QUICK, "--sizes", "64K", "--json"]
    patterns = [sys.executable, str(each), ",".join(BOUNDS), *what]
    bench = [*HOCKET, "bench", "all-to-all", *what, "-n", "4", "--mpi", mpi.mpiexec]
    prepare = f'eval "$({shlex.join([*HOCKET, "env", *NETWORK, "--mpi", mpi.mpiexec])})"'
    starts = [(launch_command(mpi, 4, [], env, patterns), list(BOUNDS)), (bench, ["all-to-all"])]
    for start, served in starts:
        done = run("sh", "-e", "-c", f"{prepare}\n{shlex.join(start)}", env=EVERYTHING)
        assert done.returncode == 0, done.stdout + done.stderr
        told = done.stdout
        for pattern in served:
            answer, end = json.JSONDecoder().raw_decode(told)
            told = told[end:].lstrip()
            (row,) = answer["rows"]
            assert (answer["Hocket"], row["served"], row["wrong"]) == (f"bench {pattern}", "schedule", "")
            assert answer["Network"] == "of the job's plan"
            if (crossing := BOUNDS[pattern]) is not None:
                assert row["bound"] == pytest.approx(65536 * crossing * 8e-9)
        assert not told


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("more", [(), ("--json",)], ids=["table", "json"])
def test_full_standard_output(mpi: Mpi, more: tuple[str, ...]) -> None:
    """Nothing runs on that nobody will see."""
    python_env(mpi)
    words = [*HOCKET, "bench", "all-to-all", "-n", 2, "--mpi", mpi.mpiexec, "--sizes", "8", *QUICK, *more]
    done = run("sh", "-c", f"{shlex.join(map(str, words))} > /dev/full")
    told = "hocket: standard output: No space left on device; make room or write elsewhere\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", told)


def test_as_the_program_of_any_launcher(mpi: Mpi) -> None:
    env = python_env(mpi)
    program = [*HOCKET, "bench", "all-gather", *QUICK, "--sizes", "1K", "--json", "--network", "chain:2,1"]
    done = run(*launch_command(mpi, 3, [], env, program))
    assert rows(done)[1024]["scheduled"] is None
    assert json.loads(done.stdout)["Network"] == "chain:2,1"
    done = run(*launch_command(mpi, 3, [], env, [*program, "-n", "4"]))
    assert done.returncode != 0 and done.stdout == ""
    assert done.stderr.count("hocket: -n 4: this job has 3 ranks; leave -n out") == 1


WRONG = """
import sys
from mpi4py import MPI
from hocket.measure import bench_exchanges as exchanges
from hocket.cli import main

arguments = sys.argv[1:]
kinds = {"irregular": "AllToAllV", "broadcast": "Broadcast"}
for pattern in "all-to-all", "all-gather", "irregular", "reduce-scatter", "all-reduce", "broadcast":
    kind = kinds.get(pattern, "Exchange")
    original = getattr(exchanges, kind).call
    for damage in "flipped", "lost", "none":

        def call(self, comm):
            if damage != "lost":
                original(self, comm)
            if damage == "flipped" and self.rank == 2:
                self.receive[5] ^= 1

        getattr(exchanges, kind).call = call
        try:
            code = main(["bench", pattern, *arguments])
        except SystemExit as end:
            code = end.code
        codes = MPI.COMM_WORLD.gather(code)
        if codes:
            print(max(codes), flush=True)
    getattr(exchanges, kind).call = original
"""


def test_a_wrong_byte_is_found(mpi: Mpi, tmp_path: Path) -> None:
    """A bit flips in what rank 2 has received, or nothing is sent at all."""
    env = python_env(mpi)
    script = tmp_path / "wrong.py"
    script.write_text(WRONG)
    arguments = ["--sizes", "64", *QUICK, "--json"]
    done = run(*launch_command(mpi, 3, [], env, [sys.executable, str(script), *arguments]))
    assert done.returncode == 0, done.stderr
    told = done.stdout
    for pattern in "all-to-all", "all-gather", "irregular", "reduce-scatter", "all-reduce", "broadcast":
        for damage in "flipped", "lost", "none":
            case = f"{pattern} {damage}"
            answer, end = json.JSONDecoder().raw_decode(told)
            code, told = told[end:].lstrip().split("\n", 1)
            wrong = answer["rows"][0]["wrong"]
            if damage == "none":
                assert (code, wrong) == ("0", ""), case
                continue
            assert code == "1", case
            assert f"hocket: wrong data with messages of 64 bytes: {wrong}\n" in done.stderr
            source, target, byte = (0, 2, 5) if damage == "flipped" else (0, 0, 0)
            if pattern == "reduce-scatter":
                source = target  # whose block it is
            assert wrong.startswith(f"native call: byte {byte} of the "), case
            assert f" from rank {source} to rank {target} is 0x" in wrong, case


def test_what_tells_a_rank() -> None:
    for name in ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"):
        assert in_a_job({name: "0"})
    assert in_a_job({"SLURM_PROCID": "0", "SLURM_STEP_ID": "0"})
    assert not in_a_job({"SLURM_PROCID": "0", "SLURM_JOB_ID": "17"})  # a batch script
    assert not in_a_job({})


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("all-to-all",), "-n is missing; give the number of ranks, or start it"),
        (("all-to-all", "-n", "100000"), "-n 100000: more than"),
        (("all-to-all", "-n", "4", "--sizes", "8:4"), "--sizes '8:4' ends before it begins"),
        (("all-to-all", "-n", "4", "--plot", "times=x.txt"), "has no known ending"),
        (("all-to-all", "-n", "4", "--csv", "/nowhere/x.csv"), "there is no directory /nowhere"),
        (("all-to-all", "-n", "4", "--network", "no.toml"), "no.toml: no such file"),
        (("all-to-all", "-n", "5", *NETWORK), "5 ranks do not fit on the 4 places of chain:2,2"),
        (("all-to-all", "-n", "4", "--sizes", "1G"), "ranks of a host; "),
        (("irregular", "-n", "4", "--density", "2"), "--density 2.0 is not accepted"),
    ],
)
def test_what_is_refused(arguments: tuple[str, ...], told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mpi4py")
    for name in ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "COBALT_JOBID", "JOB_ID"):
        monkeypatch.delenv(name, raising=False)
    done = CliRunner().invoke(cli, ["bench", *arguments], prog_name="hocket")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1 and done.stderr.startswith("hocket: ") and told in done.stderr


@pytest.mark.lab
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_in_the_lab(mpi: Mpi) -> None:
    env = python_env(mpi)
    done = run(
        *HOCKET, "lab", "run", "--network", "chain:2,2@100Mbit", "--mpi", mpi.mpiexec, "--timeout", 60, "--",
        *HOCKET, "bench", "all-to-all", *QUICK, "--sizes", "64K", "--json", env=env,
    )  # fmt: skip
    assert [row["served"] for row in rows(done).values()] == ["schedule"]
    assert json.loads(done.stdout)["Ranks"] == "4 on 4 machines"
