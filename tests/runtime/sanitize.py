"""The runtime under a sanitizer: what is reported about its own code fails.

    PYTHONPATH=tests python tests/runtime/sanitize.py thread|address [--mpi mpich]

``thread`` is ThreadSanitizer; ``address`` AddressSanitizer with UndefinedBehaviorSanitizer and
LeakSanitizer. The MPI library is not instrumented: what it does is not looked at.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from call_rows import (
    LARGE_SIZE,
    USUAL_SIZES,
    all_gathers,
    all_to_alls,
    grid,
    neighbours,
    rows,
    typed,
    vectors,
)
from scheduled_calls import EVERYTHING

ROOT = Path(__file__).resolve().parents[2]  # whose own name may be that of the project
PROGRAMS, SORTING = Path(__file__).parent / "programs", ROOT / "tests/sort/programs"
RUNS = (
    "threads 4 3 100",
    "many_comms 20 50 2",
    "subsets 300",
    "bystander",
    "persistent_check",
    "persistent_check threads",
    "nonblocking_check several threads",
    "nonblocking_check threads threads",
    "reduce_check each 5003",
    "alltoallw_check transpose bottom part alone",
    typed(2000),
    grid((20012,), rows("*reduce* bcast", "dense", form="*", counts="*"), rounds=2, words="ready threads"),
    *(
        grid(
            (16000,),
            rows("alltoall[vw] neighbor_*", "early every_kind", "*", "world edges ring grid", form),
            rounds=3,
        )
        for form in ("blocking", "persistent")
    ),
)
# Communicators of ranks that have met before meet in a call.
FOUND_OUT = grid(
    (4000000,),
    rows("alltoall alltoallv neighbor_allgather", "dense", "equal different", "world edges"),
    rounds=12,
    words="fresh",
)
SORTS = ("sort_check", "permute_check")
TWO_LEVEL = {
    "two-level-1": (
        "reduce_check each 5003",
        all_gathers(1000),
        vectors(2000),
        "alltoallv_check 2000 changing",
    ),
    "two-level-native": (all_to_alls(*USUAL_SIZES, LARGE_SIZE, rounds=20), neighbours(2000)),
    "two-level-leaders": (
        all_to_alls(*USUAL_SIZES, LARGE_SIZE, rounds=20),
        vectors(2000, parts=True),
        "alltoallv_check 2000 changing",
    ),
}


@dataclass(frozen=True)
class Cluster:
    network: str
    ranks: int
    candidate: str = ""
    shared: int = 0
    """Most ranks that share memory, as sorts see it; 0: all of this machine."""
    choose: str = ""
    """How the ranks find out who serves calls, on a fast network, where meeting pays; else schedules do."""


ONE_RANK_A_HOST = Cluster("chain:2,2", 4)
JOBS = (
    *((run, ONE_RANK_A_HOST) for run in RUNS),
    ("nonblocking_vectors 6 5000", Cluster("chain:2,2", 4, "window-1")),
    *((FOUND_OUT, Cluster("chain:2,2", 4, choose=choose)) for choose in ("learn", "predict")),
    *((run, Cluster("chain:2,1*2", 6, candidate)) for candidate, runs in TWO_LEVEL.items() for run in runs),
    *((run, Cluster("chain:2,2", 4, shared=shared)) for run in SORTS for shared in (0, 1)),
)


@dataclass(frozen=True)
class Sanitizer:
    flags: str
    preload: str
    environment: dict[str, str]


SANITIZERS = {
    "thread": Sanitizer(
        "-fsanitize=thread -g -O1",
        "libtsan.so",
        {
            "TSAN_OPTIONS": "ignore_noninstrumented_modules=1 exitcode=0 report_thread_leaks=0 "
            "log_path={log}",
            # UCX catches what a thread does after ThreadSanitizer has let go of it.
            "UCX_MEM_EVENTS": "no",
            "UCX_MEM_MMAP_HOOK_MODE": "none",
        },
    ),
    "address": Sanitizer(
        "-fsanitize=address,undefined -fno-sanitize=vptr -fno-omit-frame-pointer -g -O1",
        "libasan.so",
        {
            "ASAN_OPTIONS": "detect_leaks=1 exitcode=0 log_path={log}",
            "UBSAN_OPTIONS": "print_stacktrace=1 log_path={log}",
            "LSAN_OPTIONS": "exitcode=0 report_objects=0",
        },
    ),
}


def ours(report: str) -> bool:
    """Return true if a report is about our code: its first frame outside of the sanitizer and of the
    language."""
    frames = re.findall(r"^\s+#\d+ (?:0x\w+ in )?(.*)$", report.replace(f"{ROOT}/", ""), re.MULTILINE)
    not_theirs = [frame for frame in frames if not re.search(r"libsanitizer|libasan|libtsan|/c\+\+/", frame)]
    if report.lstrip().startswith(("Direct leak", "Indirect leak")):
        return bool(not_theirs) and "hocket" in not_theirs[0]
    return any("hocket" in frame for frame in not_theirs)


def reports(text: str) -> list[str]:
    """Reports in a log file."""
    starts = r"(?m)^(?==+$|Direct leak|Indirect leak|.*runtime error:|=+\d+=+ERROR)"
    return [part for part in re.split(starts, text) if "#0" in part or "runtime error:" in part]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sanitizer", choices=SANITIZERS)
    parser.add_argument("--mpi", default="mpich")
    options = parser.parse_args()
    sanitizer = SANITIZERS[options.sanitizer]
    os.environ["HOCKET_CXXFLAGS"] = sanitizer.flags

    from hocket.export.packages import compile_flags, link_flags
    from hocket.launch.environment import RuntimeOptions, scheduled_environment
    from hocket.launch.mpi import find_mpi, launch_command
    from hocket.launch.runtime import find_runtime, find_sort
    from hocket.launch.runtime.build import include_dir, sort_include_dir
    from hocket.network import read_network
    from hocket.network.parts import DEFAULT_RATE, Defaults

    mpi = find_mpi(options.mpi)
    library = subprocess.run(
        ["c++", f"-print-file-name={sanitizer.preload}"], capture_output=True, text=True, check=True
    )

    def environment(cluster: Cluster, log: str) -> dict[str, str]:
        network = read_network(cluster.network, Defaults(rate=12.5e9 if cluster.choose else DEFAULT_RATE))
        env = scheduled_environment(mpi.mpicc, network, RuntimeOptions(placement="order"))
        env |= {"HOCKET_CHOOSE": cluster.choose, "HOCKET_CHOICES": ""} if cluster.choose else EVERYTHING
        env["LD_PRELOAD"] = f"{library.stdout.strip()} {env['LD_PRELOAD']}"
        if cluster.candidate:
            env["HOCKET_CHOOSE"] = cluster.candidate
        env["HOCKET_TEST_SHARED_RANKS"] = str(cluster.shared)
        return env | {name: value.format(log=log) for name, value in sanitizer.environment.items()}

    sorting = compile_flags([sort_include_dir(), include_dir()])
    sorting += link_flags([find_sort(mpi.mpicc), find_runtime(mpi.mpicc).library])
    bad: list[str] = []
    with tempfile.TemporaryDirectory() as work:
        for run, cluster in JOBS:
            name, *arguments = run.split()
            program = f"{work}/{name}"
            sorts = run in SORTS
            source = str((SORTING if sorts else PROGRAMS) / f"{name}.c")
            flags = [*sanitizer.flags.split(), *(sorting if sorts else ())]
            subprocess.run([mpi.mpicc, "-pthread", source, *flags, "-o", program], check=True)
            env = environment(cluster, f"{work}/log")
            command = launch_command(mpi, cluster.ranks, [], env, [program, *arguments])
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
            found = [
                report
                for log in Path(work).glob("log*")
                for report in reports(log.read_text(errors="replace"))
            ]
            for log in Path(work).glob("log*"):
                log.unlink()
            mine = [report for report in found if ours(report)]
            told = f"{len(found)} reports, {len(mine)} of them about Hocket"
            print(
                f"{run} {cluster.candidate or cluster.choose}".strip()
                + f": exit code {done.returncode}, {told}",
                flush=True,
            )
            if done.returncode != 0 or " 0 wrong" not in done.stdout:
                mine.append(done.stdout + done.stderr)
            bad += mine
    for report in bad[:5]:
        print(report)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
