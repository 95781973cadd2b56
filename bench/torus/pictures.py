"""Pictures of all-to-all on the talk's torus: docs/pictures/torus-throughput.png and torus-heat.png.

    python bench/torus/pictures.py [--sides 8x4x8x2] [--model flow|wormhole] [--out docs/pictures]

Hell: every rank loops through the others by itself, half-way ties all go up. Purgatory: shifts with a barrier
after each, the same ties. Heaven: congestion-free permutations with a barrier after each, ties balanced.
`--model flow` knows neither packets nor buffers: links are shared fairly and nothing but wires takes time.
`--model wormhole` draws the talk's machine as bench/torus/t3d.py has it, whatever the sides.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from pathlib import Path

from hocket import _core
from hocket.report import draw_throughput, heat, stage
from hocket.report.throughput import Stage

PICTURES = Path(__file__).parents[2] / "docs" / "pictures"
RATE = 75e6  # bytes/s of a link in each direction: the talk
BYTES = 16384
BALANCED_TIES = {4: "+-+-", 8: "++--++--"}


def torus(sides: list[int], balanced: bool) -> _core.Network:
    ties = _core.ties_by_rule("up", sides)
    if balanced:
        ties = [BALANCED_TIES.get(side, row) for side, row in zip(sides, ties, strict=True)]
    return _core.build_grid("torus", sides, RATE, 0.0, ties=ties)


def ring_permutations(side: int) -> list[list[int]]:
    """Permutations of a ring that cover every pair once and use no channel twice, with balanced ties
    (Hinrichs et al., SPAA 1994; for sides of 2, 4 and 8)."""
    if side in (2, 4):
        return [[(x + shift) % side for x in range(side)] for shift in range(side)]
    if side != 8:
        raise SystemExit("heaven has sides of 2, 4 and 8")
    found = []
    for r in range(4):  # lengths 1, 3, 1, 3: half of the nodes up, the others down
        up = sorted((r + i) % 8 for i in (0, 1, 4, 5))
        down = sorted(set(range(8)) - set(up), reverse=True)
        found.append(_cycles([up, down]))
    for r, x in ((0, 7), (1, 6), (4, 3), (5, 2)):  # lengths 2, 2, 4; two nodes keep theirs
        found.append(_cycles([[r, (r + 2) % 8, (r + 4) % 8], [x, (x - 2) % 8, (x - 4) % 8]]))
    return found


def _cycles(cycles: list[list[int]]) -> list[int]:
    to = list(range(8))
    for cycle in cycles:
        for here, there in zip(cycle, cycle[1:] + cycle[:1], strict=True):
            to[here] = there
    return to


def congestion_free(sides: list[int]) -> _core.Schedule:
    """One permutation of every ring per phase."""
    rings = [ring_permutations(side) for side in sides]
    nodes = list(itertools.product(*map(range, sides)))
    number = {node: rank for rank, node in enumerate(nodes)}
    rows = []
    for phase, choice in enumerate(itertools.product(*rings)):
        for src, node in enumerate(nodes):
            dst = number[tuple(to[x] for to, x in zip(choice, node, strict=True))]
            if src != dst:
                rows.append((phase, src, dst, src, dst, 0, BYTES))
    return _core.Schedule.from_rows(len(nodes), BYTES, rows)


def by_flows(sides: list[int]) -> list[Stage]:
    up, balanced = torus(sides, False), torus(sides, True)
    demand = _core.Demand(up.ranks, BYTES)
    plans = (
        ("Hell: no phases", up, _core.find_scheduler("ring").make(up, demand), "free"),
        ("Purgatory: shifts", up, _core.find_scheduler("shift").make(up, demand), "barrier"),
        ("Heaven: congestion-free", balanced, congestion_free(sides), "barrier"),
    )
    stages = []
    for name, network, schedule, flow in plans:
        stages.append(stage(name, _core.simulate(network, schedule, None, flow), schedule, network))
        print(f"{name}: {stages[-1].per_node / 1e6:.1f} MB/s per node", flush=True)
    return stages


def by_packets() -> list[Stage]:
    """The rows "no phases", "phased" and "final" of the talk's table."""
    sys.path.insert(0, str(Path(__file__).parent))
    import t3d

    machine = t3d.Machine()
    rows = {row.name: row for row in t3d.STAGES}
    stages = []
    for title, name in (("Hell", "no phases"), ("Purgatory", "phased"), ("Heaven", "final")):
        schedule, simulation = t3d.simulate_stage(rows[name], machine)
        network = machine.network(rows[name].balanced)
        drawn = stage(f"{title}: {name}", simulation, schedule, network, limit=t3d.LIMIT)
        stages.append(drawn)
        print(f"{drawn.name}: {drawn.per_node / 1e6:.1f} MB/s per node", flush=True)
    return stages


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sides", default="8x4x8x2")
    parser.add_argument("--model", choices=["flow", "wormhole"], default="flow")
    parser.add_argument("--out", type=Path, default=PICTURES)
    options = parser.parse_args()
    sides = [int(side) for side in options.sides.split("x")]
    name = "×".join(map(str, sides))
    options.out.mkdir(parents=True, exist_ok=True)
    network = torus(sides, False)
    schedule = _core.find_scheduler("shift").make(network, _core.Demand(network.ranks, BYTES))
    heat(schedule, network, options.out / "torus-heat.png", title=f"Shifts on a {name} torus, ties up")
    stages = by_packets() if options.model == "wormhole" else by_flows(sides)
    title = f"All-to-all on a {name} torus"
    draw_throughput(stages, options.out / "torus-throughput.png", title=f"{title}, {options.model} model")


if __name__ == "__main__":
    main()
