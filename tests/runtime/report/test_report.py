"""``hocket run --report``: what the ranks say of known calls, under both MPI families."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hocket.launch.mpi import Mpi
from hocket.launch.runtime import build_runtime

pytestmark = pytest.mark.by_turns

Launched = Callable[..., subprocess.CompletedProcess[str]]
Line = dict[str, Any]

LIMIT = ["--min-bytes", "1024"]


class Told:
    """A report and the lines of it that fit."""

    def __init__(self, done: subprocess.CompletedProcess[str], file: Path) -> None:
        self.returncode, self.said = done.returncode, done.stderr
        self.document = json.loads(file.read_text())

    def line(self, **wanted: object) -> Line:
        """The only one in which these values stand."""
        found = [line for line in self.document["lines"] if wanted.items() <= line.items()]
        assert len(found) == 1, self.document
        return found[0]


@pytest.fixture
def report(launch: Launched, tmp_path: Path) -> Callable[..., Told]:
    def run(*arguments: object, **more: object) -> Told:
        file = tmp_path / "report.json"
        return Told(launch(*arguments, *LIMIT, f"--report={file}", **more), file)

    return run


def marked(text: str) -> int:
    """Number of the line of the test program in which this stands."""
    source = Path(__file__).parents[1] / "programs" / "report_calls.c"
    (number,) = [i for i, line in enumerate(source.read_text().splitlines(), 1) if text in line]
    return number


def test_calls_and_bytes_are_counted_exactly(report: Callable[..., Told]) -> None:
    told = report("report_calls calls pairs", "chain:2,2", 4)
    assert told.returncode == 0, told.said
    assert told.document["silent"] == told.document["cut_short"] == told.document["problems"] == []

    large = told.line(communicator=4, calls=3)
    assert (large["served"], large["why"], large["message_bytes"]) == ("scheduled", "", [4096, 4096])
    assert (large["call"], large["exchanges"], large["ranks"]) == ("MPI_Alltoall", 3, 4)
    assert large["bytes"] == 4 * 3 * 3 * 4096
    # Two hosts on either side of the link between the switches: 4 messages cross it, at 1 Gbit/s.
    assert large["bound_seconds"] == pytest.approx(3 * 4 * 4096 / 125e6)
    assert large["predicted_seconds"] >= large["bound_seconds"] * 0.999
    seconds = large["seconds"]
    assert 0 < seconds["least"] <= seconds["mean"] <= seconds["most"]

    small = told.line(line=marked("/* five */"))
    assert (small["served"], small["why"], small["calls"]) == ("native", "small", 5)
    assert (small["bytes"], small["message_bytes"]) == (4 * 5 * 3 * 8, [8, 8])
    assert small["bound_seconds"] is None and small["function"] == "calls"
    assert small["file"].endswith("report_calls.c")

    here = marked("/* one of each */")
    assert told.line(line=here, served="scheduled")["message_bytes"] == [4096, 4096]
    assert told.line(line=here, served="native")["message_bytes"] == [8, 8]

    pair = told.line(communicator=2)
    assert (pair["why"], pair["calls"], pair["ranks"], pair["bytes"]) == ("few_ranks", 1, 4, 4 * 4096)
    assert len(told.document["lines"]) == 5
    assert "collective calls" in told.said and "report_calls.c" in told.said


def test_reductions_and_broadcasts(report: Callable[..., Told]) -> None:
    told = report("report_calls sums", "chain:2,2", 4, "--min-bytes", "1024")
    assert told.returncode == 0, told.said
    vector, others = 4 * 4096, 3
    # Bytes that all ranks send if none forwards or adds up for others; on a link at least, of the vector.
    known = {
        "MPI_Allreduce": (4 * others * 2 * 4096, 2 * 4096, 1.5),
        "MPI_Reduce_scatter": (4 * others * 4096, 4096, 0.75),
        "MPI_Reduce": (others * vector, vector, 1.0),
        "MPI_Bcast": (others * vector, vector, 1.0),
    }
    for call, (bytes, message, on_a_link) in known.items():
        line = told.line(call=call, calls=3)
        assert (line["served"], line["bytes"]) == ("scheduled", 3 * bytes)
        assert line["message_bytes"] == [message, message]
        # That of a broadcast takes its pipeline's pieces into account.
        assert line["bound_seconds"] == pytest.approx(3 * on_a_link * vector / 125e6, rel=0.02)
    small = told.line(line=marked("/* a small one */"))
    assert (small["why"], small["message_bytes"], small["bytes"]) == ("small", [8, 8], others * 8)


def test_persistent_exchanges_count_from_start_to_end(report: Callable[..., Told]) -> None:
    line = report("report_calls persistent", "chain:2,2", 4).line(call="MPI_Alltoall_init")
    assert (line["served"], line["calls"], line["exchanges"]) == ("scheduled", 1, 7)
    assert line["bytes"] == 4 * 7 * 3 * 4096
    assert line["bound_seconds"] == pytest.approx(7 * 4 * 4096 / 125e6)
    assert line["seconds"]["least"] > 0


def test_all_gathers(report: Callable[..., Told]) -> None:
    told = report("report_calls gathers", "chain:2,2", 4, "--min-bytes", "1")
    equal = told.line(call="MPI_Allgather")
    assert (equal["served"], equal["calls"], equal["bytes"]) == ("scheduled", 4, 4 * 4 * 3 * 4096)
    # Each host gets three contributions through its link.
    assert equal["bound_seconds"] == pytest.approx(4 * 3 * 4096 / 125e6)
    assert equal["predicted_seconds"] >= equal["bound_seconds"] * 0.999
    unequal = told.line(call="MPI_Allgatherv")
    assert (unequal["served"], unequal["calls"]) == ("scheduled", 1)
    assert unequal["bytes"] == sum(3 * (4096 // (rank + 1)) for rank in range(4))
    assert unequal["message_bytes"] == [1024, 4096]
    assert unequal["predicted_seconds"] > 0 and unequal["bound_seconds"] is None


def test_nonblocking_exchanges_count_from_start_to_end(report: Callable[..., Told]) -> None:
    told = report("report_calls ready", "chain:2,2", 4)
    early = told.line(call="MPI_Ialltoall", served="native")
    assert (early["why"], early["calls"], early["bytes"]) == ("not_ready", 1, 4 * 3 * 4096)
    others = told.line(call="MPI_Ialltoall", served="scheduled")
    assert (others["calls"], others["exchanges"], others["bytes"]) == (3, 3, 3 * 4 * 3 * 4096)
    assert others["bound_seconds"] == pytest.approx(3 * 4 * 4096 / 125e6)


# Bytes that all ranks of report_calls.c send to each other in one irregular exchange.
IRREGULAR = sum(1024 * (1 + (rank + to) % 3) for rank in range(4) for to in range(4) if to != rank)


def test_irregular_exchanges_are_scheduled_when_their_sizes_come_back(report: Callable[..., Told]) -> None:
    told = report("report_calls vectors", "chain:2,2", 4, "--min-bytes", "1", "--algorithm", "auto")
    others = told.line(call="MPI_Alltoallv", calls=4)  # the first follows the phases of the equal all-to-all
    assert (others["served"], others["bytes"]) == ("scheduled", 4 * IRREGULAR)
    assert 0 < others["bound_seconds"] <= others["predicted_seconds"]


def test_nonblocking_calls_whose_sizes_nobody_knows(report: Callable[..., Told]) -> None:
    line = report("report_calls nonblocking", "chain:2,2", 4).line(call="MPI_Ialltoallv")
    assert (line["why"], line["calls"], line["exchanges"], line["bytes"]) == (
        "sizes_unknown",
        2,
        2,
        2 * IRREGULAR,
    )


def test_threads(report: Callable[..., Told]) -> None:
    line = report("report_calls threads", "chain:2,2", 4).line(function="in_thread")
    assert (line["calls"], line["bytes"]) == (400, 4 * 400 * 3 * 8)


def test_a_rank_that_is_killed_leaves_what_it_has_done(report: Callable[..., Told]) -> None:
    told = report("report_calls killed", "chain:2,2", 4)
    assert told.returncode != 0
    assert told.line(function="exchange")["calls"] == 2
    assert told.document["silent"] == [] and 1 in told.document["cut_short"]
    assert "ended without MPI_Finalize" in told.said


def test_ranks_that_tell_nothing(report: Callable[..., Told]) -> None:
    told = report("report_calls without_one", "chain:2,2", 4)
    assert told.document["silent"] == [1] and told.document["cut_short"] == []
    assert "no report from rank 1" in told.said
    assert told.line(communicator=3)["ranks"] == 3


def test_the_exit_code_of_the_program_comes_back(report: Callable[..., Told]) -> None:
    told = report("report_calls calls exit", "chain:2,2", 1)
    assert told.returncode == 3 and told.document["cut_short"] == [0]
    assert told.line(line=marked("/* five */"))["calls"] == 5


def test_without_the_option_there_are_no_files(launch: Launched, mpi: Mpi, tmp_path: Path) -> None:
    built = build_runtime(mpi.mpicc).library.parent
    cache = tmp_path / "hocket"  # of nobody else
    cache.mkdir(0o700)
    shutil.copytree(built, cache / built.name)
    own = {"XDG_CACHE_HOME": str(tmp_path)}
    done = launch("report_calls calls", "chain:2,2", 4, *LIMIT, env=own)
    assert done.returncode == 0 and "collective calls" not in done.stderr
    assert list(cache.glob("plan-*")) and not list(cache.glob("report-*"))
    done = launch("report_calls calls", "chain:2,2", 4, *LIMIT, "--report", env=own)
    assert "collective calls" in done.stderr
    assert not list(cache.glob("report-*"))  # removed again


def test_a_directory_that_cannot_be_written_is_said_once(launch: Launched) -> None:
    done = launch(
        "report_calls calls", "chain:2,2", 4, *LIMIT, exports={"HOCKET_REPORT": "/nonexistent/report"}
    )
    assert done.returncode == 0 and " 0 wrong" in done.stdout
    assert done.stderr.count("cannot write the report in /nonexistent/report") == 1


def test_the_log_of_level_two_names_each_call_site_once(launch: Launched) -> None:
    said = launch("report_calls calls", "chain:2,2", 4, *LIMIT, "-v").stderr
    assert said.count("hocket: all-to-all of 4 ranks") == 1
    assert said.count(", 4 ranks, messages of 4096 bytes: scheduled") == 2, said
    assert said.count(", 4 ranks, messages of 8 bytes: served by the MPI library (small)") == 2, said


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--report", "./program"], "write -- between"),
        (["--report=/nonexistent/r.json"], "there is no directory /nonexistent"),
    ],
)
def test_where_the_report_cannot_go(options: list[str], complaint: str) -> None:
    command = [
        sys.executable,
        "-m",
        "hocket",
        "run",
        "--network",
        "star:3",
        "-n",
        "2",
        *options,
        "--",
        "true",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and complaint in done.stderr and "Traceback" not in done.stderr
