"""Random MPI programs without and with the preload library: launched, compared and shrunk.

The programs are those of tests/random_programs/program, each drawn from its seed; a launch runs several.
How many ranks there are, of which network, and the runtime's settings are drawn from the launch's first seed.
"""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from hocket.launch import end
from hocket.launch.mpi import Mpi, launch_command

SOURCES: Final = Path(__file__).parent / "random_programs" / "program"
LONGEST: Final = 120.0  # seconds of a launch
NATIVE_TRIES: Final = 2

# Networks and how many ranks they have places for.
NETWORKS: Final = (
    ("star:9", 9),
    ("star:4*2", 8),
    ("star:3*3", 9),
    ("chain:2,2", 4),
    ("chain:3,3", 6),
    ("chain:3,2,4", 9),
    ("chain:2,1*3", 9),
    ("tree:(2,(3),(4))", 9),
    ("torus:3x3", 9),
    ("torus:4x2", 8),
    ("mesh:3x3", 9),
    ("mesh:3x2", 6),
    ("hypercube:3", 8),
    ("fat-tree:k=4", 16),
)
FLOWS: Final = ("token", "token", "token", "window:2", "barrier", "free")
EVERYTHING: Final = {"HOCKET_MIN_BYTES": "1"}  # is scheduled
TWO_LEVEL: Final = ("two-level-1", "two-level-2", "two-level-order", "two-level-native", "two-level-leaders")


@dataclass(frozen=True)
class Launch:
    """Some programs, one after the other, and where they run."""

    first: int
    count: int
    ranks: int
    network: str
    threads: int = 1
    flow: str = "token"
    settings: dict[str, str] = field(default_factory=dict)
    reports: bool = True  # asks what became of the calls
    left_out: tuple[int, ...] = ()

    @classmethod
    def draw(cls, first: int, count: int) -> Launch:
        lot = random.Random(first)
        network, places = lot.choice(NETWORKS)
        settings = dict(EVERYTHING) if lot.random() < 0.9 else {}
        settings["HOCKET_SEGMENT"] = lot.choice(["1024", "1031", "4096", "16384"])
        settings["HOCKET_ALGORITHM"] = lot.choice(["", "", "LP", "RS_NLH"])
        ranks = lot.choice([places, lot.randint(2, places)])
        threads, flow, reports = lot.choice([1, 1, 1, 3]), lot.choice(FLOWS), lot.random() < 0.5
        if lot.random() < 0.3:
            settings["HOCKET_CHOOSE"] = lot.choice(TWO_LEVEL)
            settings["HOCKET_HOST_MEMORY"] = lot.choice(["20000", "65536", "67108864"])
        most = 9 if threads == 1 else 4  # many threads on few cores take long
        return cls(first, count, min(ranks, most), network, threads, flow, settings, reports)

    @property
    def seeds(self) -> range:
        return range(self.first, self.first + self.count)

    def arguments(self, directory: str, log: str | None) -> list[str]:
        given = ["--limit", str(round(LONGEST) + 10), "--directory", directory]
        if self.threads > 1:
            given += ["--threads", str(self.threads)]
        if self.left_out:
            given += ["--leave-out", ",".join(map(str, self.left_out))]
        if log:
            given += ["--log", log]
        return [*given, str(self.first), str(self.count)]


@dataclass(frozen=True)
class Outcome:
    """Output of the programs of a launch: a digest of all that was received, by seed."""

    digests: dict[int, str]
    operations: int
    code: int  # exit code; 124: it did not end in time
    said: str
    failed_natively: int = 0  # launches without Hocket that did not end well
    compared: int = 0  # programs
    calls: Counter[str] = field(default_factory=Counter)  # "Alltoall scheduled", "Alltoall small": of a rank

    @property
    def scheduled(self) -> int:
        return sum(count for what, count in self.calls.items() if what.endswith(" scheduled"))


def compile_command(mpi: Mpi) -> list[str]:
    """Compiles the generator of programs for this MPI; ``-o FILE`` is to follow."""
    sources = [str(path) for path in sorted(SOURCES.glob("*.c"))]
    flags = ["-std=gnu11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread"]
    return [mpi.mpicc, *flags, *sources]


def run_native(mpi: Mpi, program: Path, launch: Launch, log: str | None = None) -> Outcome:
    """Without Hocket."""
    with tempfile.TemporaryDirectory() as directory:
        argv = [str(program), *launch.arguments(directory, log)]
        return _outcome(launch_command(mpi, launch.ranks, (), {}, argv), {})


def run_with_hocket(
    mpi: Mpi,
    program: Path,
    launch: Launch,
    log: str | None = None,
    exports: Sequence[str] = (),
) -> Outcome:
    """Run the programs under ``hocket run``. ``exports`` (NAME=VALUE) override in the ranks what it has
    set."""
    with tempfile.TemporaryDirectory() as directory:
        report = Path(directory) / "calls.json"
        command = hocket_command(mpi, launch, report)
        argv = ["env", *exports, str(program), *launch.arguments(directory, log)]
        return replace(_outcome([*command, *argv], launch.settings), calls=_reported(report))


def hocket_command(mpi: Mpi, launch: Launch, report: Path) -> list[str]:
    where = ["--network", launch.network, "-n", str(launch.ranks), "--placement", "order"]
    asks = [f"--report={report}"] if launch.reports else []
    how = ["--mpi", mpi.mpiexec, *where, "--flow", launch.flow, *asks, "--"]
    return [sys.executable, "-m", "hocket", "run", *how]


def _reported(report: Path) -> Counter[str]:
    """Outcomes of the calls; empty if there is no report or the ranks did not come to their end."""
    calls: Counter[str] = Counter()
    for line in json.loads(report.read_text())["lines"] if report.exists() else ():
        scheduled = line["served"] == "scheduled"
        name = line["call"].removeprefix("MPI_")
        calls[f"{name} {'scheduled' if scheduled else line['why']}"] += line[
            "exchanges" if scheduled else "calls"
        ]
    return calls


def _outcome(command: Sequence[str], env: dict[str, str]) -> Outcome:
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        process = subprocess.Popen(
            command,
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **env},
            start_new_session=True,
        )
        try:
            code = process.wait(LONGEST)
        except subprocess.TimeoutExpired:
            code = 124
        finally:  # also when this process is to end
            end(process)
        output.seek(0)
        said = output.read()
    found = re.findall(r"^program (\d+) ([0-9a-f]{16}), (\d+) operations$", said, re.MULTILINE)
    digests = {int(seed): digest for seed, digest, _ in found}
    return Outcome(digests, sum(int(n) for _, _, n in found), code, said)


def differing(launch: Launch, native: Outcome, with_hocket: Outcome) -> int | None:
    """The first program that does not do the same; None if all do and Hocket's launch ends as the other."""
    for seed in launch.seeds:
        if native.digests.get(seed) != with_hocket.digests.get(seed) or seed not in native.digests:
            return seed
    return None if with_hocket.code == 0 or native.code != 0 else launch.seeds[-1]


@dataclass(frozen=True)
class Failure:
    """A program that does something else with Hocket, as small as was found in a few tries."""

    mpi: Mpi
    launch: Launch
    native: Outcome
    with_hocket: Outcome

    def __str__(self) -> str:
        native, with_hocket = self.native, self.with_hocket
        return (
            f"{self.mpi.family.value}: {self.launch}\n"
            f"reproduce: python bench/random_programs/run.py {reproduction(self.mpi, self.launch)}\n"
            f"without Hocket: exit code {native.code}, {native.digests}\n{native.said[-600:]}\n"
            f"with it: exit code {with_hocket.code}, {with_hocket.digests}\n{with_hocket.said[-1500:]}"
        )


def reproduction(mpi: Mpi, launch: Launch) -> str:
    """The options of bench/random_programs/run.py for a launch."""
    text = f"--mpi {mpi.mpiexec} --alone {launch.first} --like {_like(launch)}"
    return text + (f" --leave-out {','.join(map(str, launch.left_out))}" if launch.left_out else "")


def _like(launch: Launch) -> str:
    places = {
        "ranks": launch.ranks,
        "network": launch.network,
        "threads": launch.threads,
        "flow": launch.flow,
    }
    return shlex.quote(";".join(f"{name}={value}" for name, value in (places | launch.settings).items()))


def alike(text: str, first: int, left_out: tuple[int, ...]) -> Launch:
    """The launch of one program that ``--like`` describes."""
    given = dict(item.split("=", 1) for item in text.split(";"))
    ranks, network, threads, flow = (given.pop(name) for name in ("ranks", "network", "threads", "flow"))
    return Launch(first, 1, int(ranks), network, int(threads), flow, given, left_out=left_out)


def compare(
    mpi: Mpi, program: Path, launch: Launch, exports: Sequence[str] = ()
) -> tuple[Failure | None, Outcome]:
    """Both ways; what differs, if anything does, and what was seen with Hocket.

    Without Hocket it has two tries to come to its end, with Hocket one. Of a launch that does not end well by
    itself only the programs before that can be compared.
    """
    native, failed = run_native(mpi, program, launch), 0
    while native.code != 0 and failed + 1 < NATIVE_TRIES:
        native, failed = run_native(mpi, program, launch), failed + 1
    comparable = launch
    if native.code != 0:
        failed += 1
        comparable = replace(launch, count=len(native.digests))
    with_hocket = run_with_hocket(mpi, program, launch, exports=exports)
    outcome = replace(with_hocket, failed_natively=failed, compared=comparable.count)
    if comparable.count == 0 or differing(comparable, native, with_hocket) is None:
        return None, outcome
    return Failure(mpi, launch, native, with_hocket), outcome


def shrink(
    failure: Failure, program: Path, exports: Sequence[str] = (), tries: int = 2, most_launches: int = 60
) -> Failure:
    """Shrink a failure to one program and fewer operations, if it fails alone.

    Leaves out halves, quarters, … of the operations as long as the rest still fails in one of ``tries``.
    """
    launches = 0

    def fails(candidate: Launch) -> Failure | None:
        nonlocal launches
        for _ in range(tries):
            if launches >= most_launches:
                return None
            launches += 1
            found, _ = compare(failure.mpi, program, candidate, exports)
            if found and set(found.native.digests) == set(candidate.seeds):
                return found
        return None

    seed = differing(failure.launch, failure.native, failure.with_hocket)
    assert seed is not None
    best = fails(replace(failure.launch, first=seed, count=1))
    if best is None:
        return failure
    kept = list(range(best.native.operations))
    share = max(1, len(kept) // 2)
    while True:
        at = 0
        while at < len(kept):
            rest = kept[:at] + kept[at + share :]
            left_out = tuple(sorted(set(range(best.native.operations)) - set(rest)))
            smaller = fails(replace(best.launch, left_out=left_out))
            if smaller:
                best, kept = smaller, rest
            else:
                at += share
        if share == 1:
            return best
        share //= 2
