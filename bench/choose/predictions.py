"""Predicted times of schedules and libraries' algorithms against SimGrid SMPI, and against an emulated cluster.

    python bench/choose/predictions.py [--place smpi] [--place lab [--mpi mpich] [--rate 50 --rate 200]]

SMPI: a chain of four switches with 8 hosts each, 100 Gbit/s, 0.5 µs a link, 0.4 µs a send and a receive; costs are
those that it was told. Lab (needs root): 8 hosts on a chain of four switches, one rank each; costs are those that
`hocket calibrate network` measures there. Rows of the place that is not run stay as they are in the file.
Writes bench/results/predictions.{csv,md}. Exit code 1 if a median misses its target.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

from hocket import _core
from hocket.costs.calibration import read_file_of
from hocket.costs.model import costs_for
from hocket.demand.collectives import ALL_GATHER, ALL_TO_ALL
from hocket.lab import Lab, LabOptions
from hocket.launch.environment import RuntimeOptions, scheduled_environment
from hocket.launch.mpi import Mpi
from hocket.network import read_network, read_network_description
from hocket.planning.candidates import forecast
from hocket.planning.plan import PlannedExchange, plan_collective
from hocket.units import format_bytes

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "smpi"))
from library_names import LIBRARY_VARIABLES, SMPI_NAMES
from program import program_text
from referee import SETTINGS, Referee, need_tools, simgrid_version

from mpi_jobs import add_mpi, compiled, mpis
from results_file import ROOT, Results, Row, begin, cells, grouped, provenance, read

WINDOWS: Final = (1, 2, 4, 8)
PATTERNS: Final = (ALL_TO_ALL, ALL_GATHER)
SMPI_NETWORK: Final = "chain:8,8,8,8@100Gbit,0.5us"
SMPI_OVERHEAD: Final = 4e-7
SMPI_SIZES: Final = tuple(1 << power for power in range(10, 21, 2))
SMPI_EAGER: Final = 65536  # smaller messages have a receive that costs something
SMPI_HEADER: Final = 16  # bytes of every message
LAB_NETWORK: Final = "chain:2,2,2,2"
LAB_SIZES: Final = (1 << 10, 1 << 13, 1 << 16, 1 << 18)
TARGETS: Final = {"smpi": 0.03, "lab": 0.10}
TARGET_REGRET: Final = 0.10
PROGRAM: Final = ROOT / "bench/lab/collective_times.c"


def exchange_of(network: _core.Network, pattern: str, size: int) -> PlannedExchange:
    return plan_collective(pattern, network, size)


def row(place: str, pattern: str, size: int, candidate: str, predicted: float, measured: list[float]) -> Row:
    error = predicted / median(measured) - 1
    print(
        f"{place} {pattern} {format_bytes(size)} {candidate}: {median(measured):.4g} s, predicted {error:+.1%}",
        flush=True,
    )
    return {"place": place, "pattern": pattern, "bytes": size, "candidate": candidate, "predicted": predicted,
            "seconds": measured, "error": error}  # fmt: skip


def smpi_rows(scratch: Path) -> Iterator[Row]:
    """SMPI is told what its processors take; the simulator is told the same."""
    network = read_network(SMPI_NETWORK)
    cost = f"0:{SMPI_OVERHEAD}:0"
    told = (*SETTINGS, *(f"smpi/{name}:{cost}" for name in ("os", "ois", "or")))
    referee = Referee(network, scratch, settings=told)
    for pattern in PATTERNS:
        for size in SMPI_SIZES:
            here = exchange_of(network, pattern, size)
            wire = 1 + SMPI_HEADER / size
            # The program's sends are synchronous: only its tokens have a receive that costs something.
            costs = _core.ModelParameters(alpha=SMPI_OVERHEAD, token_work=SMPI_OVERHEAD, latency_weighted=True,
                                          overhead=wire)  # fmt: skip
            for window in WINDOWS:
                waits = _core.derive_waits(network, here.schedule, window)
                seconds = referee.program(program_text(here.schedule, waits, window))
                predicted = _core.simulate(network, here.schedule, waits, f"window:{window}", costs).seconds
                yield row("smpi", pattern, size, f"window-{window}", predicted, [seconds])
            for call in _core.library_calls():
                if (name := SMPI_NAMES.get((pattern, call.name))) is None or call.pattern != pattern:
                    continue
                schedule = call.make(network, here.demand)
                eager = max(schedule.lengths()) < SMPI_EAGER
                costs = _core.ModelParameters(alpha=SMPI_OVERHEAD, receive=SMPI_OVERHEAD if eager else 0, eager=0,
                                              latency_weighted=True, overhead=wire)  # fmt: skip
                seconds = referee.native(size, name, pattern.replace("-", ""))
                predicted = _core.simulate(network, schedule, None, call.flow, costs).seconds
                yield row("smpi", pattern, size, f"native:{call.name}", predicted, [seconds])


def lab_rows(mpi: Mpi, rate: float, options: argparse.Namespace, scratch: Path) -> Iterator[Row]:
    """Calibrates in the lab, predicts, and measures every candidate there: jobs of all candidates take turns."""
    source = f"{LAB_NETWORK}@{rate:g}Mbit"
    description = read_network_description(source)
    network = description.build()
    program = compiled(mpi, PROGRAM, scratch)
    kept = scratch / f"calibration-{mpi.family.value}-{rate:g}.json"
    place = f"lab {rate:g} Mbit/s, {mpi.family.value}"
    with Lab.up(description, LabOptions(rate * 1e6 / 8, options.buffer, "cubic", 1500)) as lab:
        measure = [
            sys.executable,
            "-m",
            "hocket",
            "calibrate",
            "network",
            "--network",
            source,
            "-o",
            str(kept),
        ]
        done = lab.run(measure, mpi=mpi, timeout=options.timeout, capture=True)
        if done.exit_code != 0:
            sys.exit(f"calibrating failed: exit code {done.exit_code}\n{done.output[-2000:]}")
        print(done.output)
        costs = costs_for(network, read_file_of(kept), str(kept))
        for pattern in PATTERNS:
            environments = candidates_of(mpi, network, pattern)
            times: dict[tuple[str, int], list[float]] = {}
            for _ in range(options.jobs):
                for candidate, env in environments.items():
                    sizes = [f"{size}:{options.repetitions}" for size in LAB_SIZES]
                    command = [str(program), pattern.replace("-", ""), *sizes]
                    done = lab.run(command, mpi=mpi, env=env, timeout=options.timeout, capture=True)
                    if done.exit_code != 0:
                        sys.exit(f"{candidate}: exit code {done.exit_code}\n{done.output[-2000:]}")
                    for words in map(str.split, done.output.splitlines()):
                        if len(words) == 2 and words[0].isdigit():
                            times.setdefault((candidate, int(words[0])), []).append(float(words[1]))
            for size in LAB_SIZES:
                found = forecast(exchange_of(network, pattern, size), costs)
                predicted = {one.name: one.seconds for one in found.candidates}
                predicted |= {f"native:{one.name}": one.seconds for one in found.library}
                for candidate in environments:
                    yield row(place, pattern, size, candidate, predicted[candidate], times[candidate, size])


def candidates_of(mpi: Mpi, network: _core.Network, pattern: str) -> dict[str, dict[str, str]]:
    """Environments of the schedules' windows and of the library's algorithms."""
    always = {"HOCKET_MIN_BYTES": "1"}
    candidates = {
        f"window-{window}": scheduled_environment(
            mpi.mpicc, network, RuntimeOptions(flow=f"window:{window}", choose="off")
        )
        | always
        for window in WINDOWS
    }
    for call in _core.library_calls():
        variables = LIBRARY_VARIABLES.get((mpi.family, pattern, call.name))
        if call.pattern == pattern and variables is not None:
            candidates[f"native:{call.name}"] = dict(variables)
    return candidates


def regrets(rows: list[Row]) -> list[float]:
    """Per call and size: what the candidate that is predicted best takes longer than the best."""
    found = []
    for of in grouped(rows, "place", "pattern", "bytes").values():
        times = {one["candidate"]: _seconds(one) for one in of}
        chosen = min(of, key=lambda one: one["predicted"])["candidate"]
        found.append(times[chosen] / min(times.values()) - 1)
    return found


def _seconds(one: Row) -> float:
    cell = one["seconds"]
    return median(map(float, str(cell).split(";"))) if not isinstance(cell, list) else median(cell)


def summary(heading: Row, rows: list[Row]) -> list[str]:
    """Median errors and regrets by place; the errors by candidate and size."""
    places = dict.fromkeys(one["place"].partition(" ")[0] for one in rows)
    targets = ", ".join(f"{TARGETS[place]:.0%} ({place})" for place in places)
    lines = [
        "# Predictions", "",
        f"{provenance(heading)}, {heading.get('simgrid', '')}. Made by `make bench NAME=predictions`.", "",
        "Predicted over measured time, minus 1. Regret: what the candidate that is predicted to be the fastest",
        f"takes longer than the fastest one. Targets: median error {targets}; median regret {TARGET_REGRET:.0%}.", "",
    ]  # fmt: skip
    told = []
    for place, of in grouped(rows, "place").items():
        errors = sorted(abs(one["error"]) for one in of)
        regret = regrets(of)
        told.append([place, len(errors), f"{median(errors):.1%}", f"{errors[int(0.9 * len(errors))]:.1%}",
                     f"{errors[-1]:.1%}", f"{median(regret):.1%}", f"{max(regret):.1%}"])  # fmt: skip
    head = [
        "place",
        "predictions",
        "median error",
        "nine in ten below",
        "largest",
        "median regret",
        "largest regret",
    ]
    lines += cells(head, told)
    for (place, pattern), of in grouped(rows, "place", "pattern").items():
        sizes = sorted({one["bytes"] for one in of})
        body = []
        for candidate, mine in grouped(of, "candidate").items():
            at = {one["bytes"]: one for one in mine}
            body.append(
                [candidate, *(f"{1e3 * _seconds(at[s]):.4g} ms ({at[s]['error']:+.1%})" for s in sizes)]
            )
        lines += ["", f"## {place}, {pattern}", "", *cells(["candidate", *map(format_bytes, sizes)], body)]
    return lines


def missed(rows: list[Row]) -> list[str]:
    problems = []
    for place, of in grouped(rows, "place").items():
        error, regret = median(abs(one["error"]) for one in of), median(regrets(of))
        target = TARGETS[place.partition(" ")[0]]
        if error > target:
            problems.append(f"{place}: median error {error:.1%}, target {target:.0%}")
        if regret > TARGET_REGRET:
            problems.append(f"{place}: median regret {regret:.1%}, target {TARGET_REGRET:.0%}")
    return problems


def others(results: Results, places: list[str]) -> list[Row]:
    """Rows of places that are not run now."""
    if not results.path.exists():
        return []
    heading, rows = read(results.path)
    results.heading = {key: value for key, value in heading.items() if key == "simgrid"} | results.heading
    return [one for one in rows if one["place"].partition(" ")[0] not in places]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--place", action="append", choices=sorted(TARGETS))
    add_mpi(parser)
    parser.add_argument("--rate", action="append", type=float, help="of the lab, Mbit/s (default 50 and 200)")
    parser.add_argument("--buffer", type=int, default=60000, help="of the lab's ports, bytes")
    parser.add_argument("--jobs", type=int, default=3, help="of the lab, for each candidate")
    parser.add_argument("--repetitions", type=int, default=5, help="of a job, for each size")
    parser.add_argument("--timeout", type=float, default=200, help="seconds of a job in the lab")
    options, results = begin(parser, "predictions", summary)
    places = options.place or sorted(TARGETS)
    results.rows = others(results, places)
    with tempfile.TemporaryDirectory(prefix="hocket-predictions-") as folder:
        if "smpi" in places:
            need_tools()
            results.heading["simgrid"] = simgrid_version()
            results.add(*smpi_rows(Path(folder) / "smpi"))
        if "lab" in places:
            for mpi in mpis(options):
                for rate in options.rate or [50, 200]:
                    results.add(*lab_rows(mpi, rate, options, Path(folder)))
    problems = missed(results.rows)
    for problem in problems:
        print(f"target missed: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
