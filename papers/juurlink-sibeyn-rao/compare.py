"""The gossip algorithms of a ring, torus, mesh or hypercube compared; the fastest is executed.

    python papers/juurlink-sibeyn-rao/compare.py torus:64 --ratio 16 [--half-duplex]

Times are in units of L·t_l: one contribution over one link.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any, Final

from hocket import _core, _papers
from hocket.cli._shared.work import as_columns
from hocket.network import read_network

# A step list of more processors takes seconds to execute.
MOST_PROVED: Final = 4096


def grid_of(network: _core.Network) -> tuple[list[int], bool]:
    """Sides, and whether it wraps."""
    if network.shape == _core.Shape.hypercube:
        return [2] * network.sides[0], False
    if network.shape not in (_core.Shape.torus, _core.Shape.mesh):
        raise ValueError("gossip algorithms are for rings, tori, meshes and hypercubes")
    return list(network.sides), network.shape == _core.Shape.torus


def compared(
    sides: list[int], r: float, wraparound: bool = True, half_duplex: bool = False
) -> dict[str, list[Any]]:
    """The plans of the strict model, and StrideGos of the shared one."""
    candidates = _papers.gossip.candidates
    shared = [] if half_duplex else candidates(sides, r, wraparound=wraparound, shared=True)
    return {
        "strict": candidates(sides, r, wraparound=wraparound, half_duplex=half_duplex),
        "shared": [plan for plan in shared if plan.name == "StrideGos"],
    }


def network_name(sides: list[int], wraparound: bool = True) -> str:
    if len(sides) == 1:
        return f"{'ring' if wraparound else 'linear array'} of {sides[0]}"
    return "×".join(map(str, sides)) + (" torus" if wraparound else " mesh")


def parameters(plan: Any) -> str:
    """``9; 3^2 3^2``: nine bridgeheads, then two rounds of factor 3 in two steps each."""
    if plan.stride.steps:
        return " ".join("/".join(str(stride) for stride in step.strides) for step in plan.stride.steps)
    if plan.name.startswith("CubGos") or plan.name.startswith("TorGos"):
        return _with_rounds(f"spacing {plan.spacing}", plan.rounds)
    phases = []
    for phase in plan.phases:
        kinds = dict.fromkeys(
            _with_rounds(str(a), rounds) if kind == "CircGos" else kind for kind, a, rounds in phase
        )
        phases.append(" or ".join(kinds))
    return ", ".join(phases)


def _with_rounds(bridgeheads: str, rounds: list[tuple[int, int]]) -> str:
    listed = " ".join(f"{factor}^{steps}" for factor, steps in rounds)
    return f"{bridgeheads}; {listed}" if listed else bridgeheads


def told(sides: list[int], r: float, wraparound: bool = True, half_duplex: bool = False) -> str:
    models = compared(sides, r, wraparound, half_duplex)
    best = models["strict"][0]
    rows = [
        [
            plan.name + (" (links shared)" if model == "shared" else ""), parameters(plan), str(plan.steps),
            f"{plan.volume:.2f}", f"{plan.time:.2f}", f"{plan.ratio:.2f}",
        ]
        for model, plans in models.items() for plan in plans
    ]  # fmt: skip
    lines = [
        f"{network_name(sides, wraparound)}, r = {r:g}; bound {best.bound:.4g}",
        as_columns(["algorithm", "parameters", "steps", "volume", "time", "time/bound"], rows),
    ]
    if _papers.gossip.Grid(sides, wraparound).nodes <= MOST_PROVED:
        proof = _papers.gossip.prove(sides, best, wraparound=wraparound, half_duplex=half_duplex)
        volume = proof["strict_volume"]
        agrees = (
            proof["complete"] and proof["steps"] == best.steps and abs(volume - best.volume) <= 1e-6 * volume
        )
        verdict = "as the formula says" if agrees else f"NOT what the formula says: {proof['problem']}"
        links = "no link shared" if proof["link_disjoint"] else "links shared"
        lines.append(f"executed {best.name}: {proof['steps']} steps, volume {volume:.2f}, {links}: {verdict}")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("network")
    parser.add_argument("--ratio", type=float, required=True, help="r = t_s / (L·t_l)")
    parser.add_argument(
        "--half-duplex", action="store_true", help="a processor sends or receives one message at a time"
    )
    options = parser.parse_args(arguments)
    try:
        sides, wraparound = grid_of(read_network(options.network))
        print(told(sides, options.ratio, wraparound, options.half_duplex))
    except ValueError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
