"""Pictures of all-to-all on the talk's torus: results/torus-throughput.png and results/torus-heat.png.

    python papers/stricker-hardwick/pictures.py [--model wormhole|flow] [--out FOLDER]

Throughput. `--model wormhole`: the rows "no phases" (hell), "phased" (purgatory) and "final" (heaven) of
t3d.py, on 8 × 4 × 8 switches with two processors each. `--model flow`: `ring`, `shift` and
`product` on a torus of four sides; links are shared fairly, and nothing but wires takes time.
Heat: the channels of a torus of four sides, by patterns and ties before and after the talk's changes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import t3d

from hocket import _core
from hocket.pictures import draw_throughput, heats, stage
from hocket.pictures.heat import Panel
from hocket.pictures.throughput import Stage

PICTURES = Path(__file__).parent / "results"
SIDES = [8, 4, 8, 2]
BYTES = 16384
STEPS = {"phase": "step", "note": "no barriers"}  # step k: everyone's k-th message


def torus(ties: str) -> _core.Network:
    return _core.Network.grid("torus", SIDES, t3d.LIMIT, 0.0, ties=_core.Network.ties_by_rule(ties, SIDES))


def made(algorithm: str, network: _core.Network) -> _core.Schedule:
    return _core.Algorithm.find(algorithm).make(network, _core.Demand(network.ranks, BYTES))


def by_flows() -> list[Stage]:
    plans = (
        ("Hell: no phases", "up", "ring", "free"),
        ("Purgatory: shifts", "up", "shift", "barrier"),
        ("Heaven: congestion-free", "parity", "product", "barrier"),
    )
    stages = []
    for name, ties, algorithm, flow in plans:
        network = torus(ties)
        schedule = made(algorithm, network)
        result = _core.simulate(network, schedule, None, flow)
        steps = STEPS if flow == "free" else {}
        stages.append(stage(name, result, schedule, network, limit=t3d.LIMIT, **steps))
    return stages


def by_packets(machine: t3d.Machine) -> list[Stage]:
    rows = {row.name: row for row in t3d.STAGES}
    plans = (
        ("Hell: no phases", "no phases"),
        ("Purgatory: phased, simple patterns", "phased"),
        ("Heaven: congestion-free", "final"),
    )
    stages = []
    for title, name in plans:
        row = rows[name]
        schedule, result = t3d.simulate_stage(row, machine)
        network = machine.network(row.balanced)
        steps = STEPS if row.flow == "free" else {}
        stages.append(stage(title, result, schedule, network, limit=t3d.LIMIT, **steps))
    return stages


def draw_heat(path: Path) -> None:
    up, parity = torus("up"), torus("parity")
    fixed = made("product", parity)
    panels = [
        Panel("shift, ties up", made("shift", up), up),
        Panel("product for parity, ties up", fixed, up),
        Panel("product for parity, its ties", fixed, parity),
    ]
    heats(panels, path, title="Pattern and router on an 8×4×8×2 torus: messages on each channel")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", choices=["wormhole", "flow"], default="wormhole")
    parser.add_argument("--out", type=Path, default=PICTURES)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    draw_heat(options.out / "torus-heat.png")
    if options.model == "wormhole":
        stages = by_packets(t3d.Machine())
        title = "All-to-all on a simulated T3D: 8×4×8 switches, 512 processors"
    else:
        stages = by_flows()
        title = "All-to-all on an 8×4×8×2 torus, flow model"
    for drawn in stages:
        print(f"{drawn.name}: {drawn.per_node / 1e6:.1f} MB/s per node", flush=True)
    draw_throughput(stages, options.out / "torus-throughput.png", title=title)


if __name__ == "__main__":
    main()
