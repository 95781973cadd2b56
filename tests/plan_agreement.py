"""Does ``hocket plan`` show, save, prove and bound what ranks carry out? Random cases of all collectives, by seed.

A case is planned by the command, saved, proven again from its file, carried out by its rank programs in random order,
and found again by the plan store of the runtime, as a rank finds it.
"""

from __future__ import annotations

import json
import struct
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from click.testing import CliRunner

from hocket import _core
from hocket.cli import cli
from hocket.demand.collectives import (
    COLLECTIVES,
    PLANNED_FOR_JOBS,
    scheduled_as,
    takes_contributions,
)
from hocket.launch.environment import plan_for_run
from hocket.network import read_network
from hocket.network.writer import network_files
from hocket.planning.plan import plan_collective
from plan_file import INDEX, split
from rank_programs import Machine
from strategies import RATE, few_ranks, random_graph, random_tree, unequal

ROUNDING = 1 + 1e-9
FIGURES = (
    "algorithm", "phases", "transfers", "waits", "window", "bound_phases", "predicted_seconds", "bound_seconds",
)  # fmt: skip
BOUNDS = (
    ("predicted_seconds", "bound_seconds"),
    ("lockstep_seconds", "load_bound_seconds"),
    ("phases", "bound_phases"),
)


def _switches(lot: Random) -> str:
    return f"chain:{','.join(str(lot.randint(0, 3)) for _ in range(lot.randint(1, 4)))},{lot.randint(1, 3)}"


def _sides(lot: Random) -> str:
    return "x".join(str(lot.randint(2, 4)) for _ in range(lot.randint(1, 3)))


def _graph(lot: Random) -> _core.Network:
    """Balanced routes depend on how many ranks hosts have, which may differ; hosts without switches forward."""
    plan = random_graph(lot, lot.randint(2, 10))
    for host in plan.hosts:
        plan.ranks[host] = few_ranks(lot)
    if lot.random() < 0.5:
        return plan.build("graph")
    ranks = [lot.randint(1, 5) for _ in range(lot.randint(3, 8))]
    ring = [(host, (host + 1) % len(ranks)) for host in range(len(ranks))]
    a, b = zip(*ring, *(lot.sample(range(len(ranks)), 2) for _ in range(lot.randint(0, 3))), strict=True)
    names, rates = [f"n{host}" for host in range(len(ranks))], [RATE] * len(a)
    return _core.Network.graph(
        names, ranks, a, b, rates, [0.0] * len(a), [], [2] * len(ranks), [1] * len(ranks)
    )


FAMILIES: dict[str, Callable[[Random], str]] = {
    "star": lambda lot: f"star:{lot.randint(1, 12)}",
    "chain": _switches,
    "tree": lambda lot: f"tree:{lot.randint(1, 3)}x{lot.randint(1, 4)}",
    "torus": lambda lot: f"torus:{_sides(lot)}",
    "mesh": lambda lot: f"mesh:{_sides(lot)}",
    "hypercube": lambda lot: f"hypercube:{lot.randint(1, 4)}",
    "fat tree": lambda lot: lot.choice(
        ["fat-tree:k=4", "fat-tree:2x2x2", "fat-tree:3x4x2", "fat-tree:4x3x3"]
    ),
    "dragonfly": lambda lot: lot.choice(
        ["dragonfly:3x2x1", "dragonfly:5x2x2", "dragonfly:5x4x1", "dragonfly:4x3x1"]
    ),
    "dragonfly+": lambda lot: lot.choice(["dragonfly+:3x2x2x2", "dragonfly+:5x2x2x2"]),
}
DRAWN: dict[str, Callable[[Random], _core.Network]] = {
    "drawn tree": lambda lot: random_tree(lot, lot.randint(1, 12), ranks=few_ranks).build(),
    "unequal tree": lambda lot: random_tree(
        lot, lot.randint(2, 12), ranks=few_ranks, switch_link=unequal
    ).build(),
    "graph": lambda lot: _graph(lot),
}
MOST_RANKS = 30
SIZES = (1, 2, 3, 5, 7, 64, 1000, 1024, 4096, 65536, 1 << 20)


@dataclass
class Case:
    """Case that one line of a shell asks for."""

    seed: int
    family: str
    network: str  # a short form or a file
    collective: str
    algorithm: str
    ports: str
    options: list[str] = field(default_factory=list)  # of the network, for every command
    more: list[str] = field(default_factory=list)  # of the plan
    root: int = 0
    size: int = 0
    two_level: bool = False
    run_window: int | None = None  # 'hocket run --flow window:K'

    def command(self) -> str:
        return " ".join(
            ["hocket plan", self.collective, "--network", self.network, *self.options, *self.more]
        )


def network_of(case: Case) -> _core.Network:
    return read_network(case.network, _defaults(case.options))


def _defaults(options: list[str]) -> Any:
    from hocket.network import Defaults
    from hocket.units import parse_rate

    return Defaults(uplink_rate=parse_rate(options[1])) if options else Defaults()


def draw(seed: int, folder: Path) -> Case:
    """The case of a seed; files that it needs are written to the folder."""
    lot = Random(seed)
    options: list[str] = []
    while True:
        family = lot.choice([*FAMILIES, *DRAWN])
        if family in FAMILIES:
            source = FAMILIES[family](lot)
            if lot.random() < 0.25:
                source += f"*{lot.randint(2, 3)}"
            options = []
            if family in ("fat tree", "dragonfly", "tree") and lot.random() < 0.3:
                options = ["--uplink-rate", lot.choice(["500Mbit", "2Gbit", "300Mbit"])]
            network = read_network(source, _defaults(options))
        else:
            network = DRAWN[family](lot)
            source = str(folder / f"network-{seed}.toml")
            for path, text in network_files(network, source).items():
                Path(path).write_text(text)
        if 1 <= network.ranks <= MOST_RANKS:
            break
    collective = COLLECTIVES[lot.choice(list(COLLECTIVES))]
    size = lot.choice([lot.choice(SIZES), lot.randint(1, 1 << lot.randint(1, 21))])
    root = lot.randrange(network.ranks) if collective.rooted else 0
    more, demand = _asked(lot, collective, network, size, root, folder / f"demand-{seed}")
    able = [
        (one.name, one.ports.name)
        for one in _core.Algorithm.all()
        if one.pattern == scheduled_as(collective) and not one.why_not(network, demand.scheduled_as)
    ]
    algorithm, ports = ("auto", "") if lot.random() < 0.5 or not able else lot.choice(able)
    if algorithm != "auto":
        more += ["--algorithm", algorithm]
    if lot.random() < 0.3:
        more += ["--window", str(lot.randint(1, 4))]
    if (collective.forwards or collective.by_matrix) and lot.random() < 0.3:
        more += ["--alpha", lot.choice(["0", "1us", "50us", "1ms"])]
    window = lot.choice([None, None, 1, 3])
    two_level = (
        not collective.by_matrix
        and not collective.rooted
        and network.host_groups().runs(demand, _core.limits.host_memory)
        and (family == "graph" or lot.random() < 0.2)
    )
    if two_level:  # between hosts, algorithms that serve ranks may serve nothing
        algorithm, ports = "auto", ""
        more = [*more, "--algorithm", algorithm, "--two-level"]
    return Case(
        seed, family, source, collective.name, algorithm, ports, options, more, root, size, two_level, window
    )


def _asked(
    lot: Random, collective: _core.Collective, network: _core.Network, size: int, root: int, path: Path
) -> tuple[list[str], _core.Demand]:
    """The options that say what is to be sent, and the demand."""
    ranks = network.ranks
    if collective.by_matrix:
        chance = lot.choice([0.1, 0.4, 1.0])
        messages = [
            (src, dst, lot.choice([size, lot.randint(1, size)]))
            for src in range(ranks) for dst in range(ranks) if src != dst and lot.random() < chance
        ]  # fmt: skip
        table = [[0] * ranks for _ in range(ranks)]
        for src, dst, bytes in messages:
            table[src][dst] = bytes
        path = path.with_suffix(".csv")
        path.write_text("".join(f"{','.join(map(str, row))}\n" for row in table))
        columns = [list(column) for column in zip(*messages, strict=True)] or [[], [], []]
        return ["--demand", str(path)], _core.Demand.irregular(ranks, *columns)
    if takes_contributions(collective) and lot.random() < 0.3:
        sizes = [lot.choice([0, 1, size, lot.randint(0, size)]) for _ in range(ranks)]
        path.write_text("\n".join(map(str, sizes)) + "\n")
        demand = _core.Demand(ranks, max(sizes), collective.pattern, contributions=sizes)
        return ["--contributions", str(path)], demand
    more = ["--bytes", str(size)]
    if collective.rooted:
        more += ["--root", str(root)]
    return more, collective.demand(ranks, size, root)


@dataclass
class Outcome:
    """Result of a case. ``wrong``: what does not agree."""

    case: Case
    algorithm: str = ""
    refused: bool = False  # by the verifier: schedules of libraries may meet
    wrong: list[str] = field(default_factory=list)
    plan: Path | None = None
    asked: int = 0  # how often the runtime was asked for its programs


def check(case: Case, folder: Path) -> Outcome:
    """Plans, saves, proves, bounds and carries out a case."""
    path = folder / f"plan-{case.seed}.hkt"
    outcome = Outcome(case)
    network = ["--network", case.network, *case.options]
    asked = ["plan", case.collective, *network, *case.more, "--json"]
    told = _run([*asked, "-o", str(path)], outcome)
    if told is None:
        return outcome
    outcome.algorithm = told["algorithm"]
    outcome.refused = not (told["contention_free"] and told["complete"])
    if not case.two_level:
        _bounds(told, outcome)
    if outcome.refused:
        entry = COLLECTIVES[case.collective]
        if _core.Algorithm.find(told["algorithm"], entry.pattern).contention_free:
            outcome.wrong.append("the verifier refuses what is free of contention")
        if path.exists():
            outcome.wrong.append("a refused plan is saved")
        return outcome
    if not path.exists():
        outcome.wrong.append("a plan that holds is not saved")
        return outcome
    outcome.plan = path
    levels = ["--two-level"] if case.two_level else []
    proven = _run(["verify", str(path), *network, *levels, "--json"], outcome)
    if proven is not None:
        if not proven["ok"]:
            outcome.wrong.append(f"verify refuses it: {proven['findings'][:1]}")
        for figure in [] if case.two_level else FIGURES:
            if proven[figure] != told[figure]:
                outcome.wrong.append(f"{figure}: {told[figure]} planned, {proven[figure]} verified")
    data = path.read_bytes()
    try:
        built = Machine(data)
        equal = len({built.network.rate(channel) for channel in range(built.network.channels)}) < 2
        for seed in range(2):
            built.run(Random(seed), check_channels=equal)
    except AssertionError as problem:
        outcome.wrong.append(f"carried out: {problem}")
    return outcome


def _run(command: Sequence[str], outcome: Outcome) -> dict[str, Any] | None:
    """JSON output of a command; exit code 1, a refusal, is an answer."""
    done = CliRunner().invoke(cli, list(command))
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        outcome.wrong.append(f"{command[0]} fails: {done.exception!r}")
    elif done.exit_code not in (0, 1):
        outcome.wrong.append(f"{command[0]} ends with {done.exit_code}: {done.stderr.strip()}")
    else:
        return dict(json.loads(done.stdout))
    return None


def _bounds(told: dict[str, Any], outcome: Outcome) -> None:
    for taken, least in BOUNDS:
        if taken == "lockstep_seconds" and taken not in told:
            continue
        if outcome.refused and taken != "predicted_seconds":
            continue  # who sends all at once has a phase
        if told[taken] * ROUNDING < told[least]:
            outcome.wrong.append(f"{taken} {told[taken]} is less than {least} {told[least]}")


def _programs(data: bytes, ranks: Sequence[int]) -> str:
    """Algorithm, phases, window and the checksums of these ranks' rows, as the store's program prints them."""
    plan, index = _core.Plan.decode(data), split(data)[INDEX]
    sums = [sum for _, _, sum in struct.iter_unpack("<3Q", index[len(index) % 24 :])]
    told = [
        plan.algorithm,
        plan.schedule.phases,
        plan.waits.window,
        *(f"{sums[rank]:016x}" for rank in ranks),
    ]
    return " ".join(map(str, told))


def run_cases(outcomes: Sequence[Outcome], store: Path, folder: Path) -> None:
    """Asks the runtime's plan store what ranks would run: by the file of the case, and without one."""
    lines, expected = [], []

    def ask(outcome: Outcome, what: str, plans: Sequence[Path], ranks: Sequence[int], wanted: bytes) -> None:
        case = outcome.case
        listed = ",".join(map(str, ranks))
        lines.append(f"{':'.join(map(str, plans))} {case.collective} {case.root} {listed}\n")
        expected.append((outcome, what, _programs(wanted, ranks)))

    for outcome in outcomes:
        case = outcome.case
        entry = COLLECTIVES[case.collective]
        if outcome.plan is None or entry.by_matrix:
            continue
        network, data = network_of(case), outcome.plan.read_bytes()
        plan = _core.Plan.decode(data)
        if len(plan.schedule) > 0 and entry.can_follow(plan.demand, case.root):
            ask(outcome, "by its file", [outcome.plan], range(plan.demand.ranks), data)
        plans = []
        for pattern in PLANNED_FOR_JOBS:
            plans.append(folder / f"run-{case.seed}-{pattern}.hkt")
            plans[-1].write_bytes(plan_for_run(network, pattern, case.run_window).encode())
        shown = plan_collective(
            case.collective, network, _core.limits.reference_bytes, window=case.run_window, root=case.root
        )
        ask(outcome, "without a file", plans, sorted({0, network.ranks // 2}), shown.encode())
    (folder / "asked").write_text("".join(lines))
    done = subprocess.run(
        [store, "asked", str(folder / "asked")], capture_output=True, text=True, timeout=900, check=False
    )
    answers = done.stdout.splitlines()
    if len(answers) != len(expected):
        raise RuntimeError(f"{len(answers)} answers to {len(expected)} questions: {done.stderr}")
    for (outcome, what, wanted), answer in zip(expected, answers, strict=True):
        outcome.asked += 1
        if answer != wanted:
            outcome.wrong.append(f"{what} ranks run {answer[:80]}, the plan is {wanted[:80]}")
