"""``hocket gossip``: the gossip algorithms of a ring, torus or mesh compared, proved and drawn."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import click

from hocket.cli.options import json_option, load_network, network_option, parse_size
from hocket.cli.usage import Number, named
from hocket.cli.work import as_columns, check_writable, with_spinner
from hocket.errors import UsageError

if TYPE_CHECKING:
    from hocket import _core
    from hocket._core import Network

# A step list of more processors takes seconds to execute.
MOST_PROVED: Final = 4096
MOST_RATIO: Final = 10**12
LENGTHS: Final = tuple(2**i for i in range(4, 21))
RATIOS: Final = tuple(2.0**i for i in range(-2, 13))
SIDES: Final = {
    1: (4, 8, 16, 27, 32, 64, 81, 128, 243, 256, 512, 729, 1024),
    2: (3, 4, 6, 8, 9, 12, 16, 24, 27, 32),
}


@click.command()
@network_option()
@click.option(
    "--bytes", "size", default="64KiB", show_default=True, metavar="SIZE", help="Size of one contribution."
)
@click.option(
    "--startup", default="10us", show_default=True, metavar="TIME",
    help="What a message costs besides its transfer (t_s).",
)  # fmt: skip
@click.option(
    "--ratio",
    type=Number(min=0, max=MOST_RATIO),
    metavar="R",
    help="r = t_s / (L·t_l), instead of --bytes and --startup.",
)
@click.option("--half-duplex", is_flag=True, help="A processor sends or receives one message at a time.")
@click.option("--times", metavar="FILE", help="Draw time per byte against message length (svg, png or pdf).")
@click.option("--regions", metavar="FILE", help="Draw which algorithm wins where in the plane of n and r.")
@json_option
def gossip(
    source: str,
    size: str,
    startup: str,
    ratio: float | None,
    half_duplex: bool,
    times: str | None,
    regions: str | None,
    as_json: bool,
) -> None:
    """Compare the gossip (all-gather) algorithms of a ring, torus, mesh or hypercube.

    Times are in units of L·t_l: one contribution over one link.
    """
    from hocket import _core
    from hocket.units import parse_time

    network = load_network(source, quiet=as_json).network
    sides, wraparound = _grid(network, source)
    if times is not None and network.ranks < 2:
        raise UsageError(
            "one processor has nothing to send, so that there are no times to draw",
            remedy="give a larger network",
        )
    for path in (times, regions):
        if path is not None:
            from hocket.plots import style

            style.check(path)
            check_writable(path)
    seconds = named("--startup", parse_time, startup)
    r = ratio if ratio is not None else seconds * network.host_rate / parse_size(size)
    if r > MOST_RATIO:
        raise UsageError(
            f"--startup is {r:g} times what --bytes take", remedy="give less, or larger messages"
        )
    models = {
        "strict": _core.gossip.candidates(sides, r, wraparound=wraparound, half_duplex=half_duplex),
        "shared": [
            plan
            for plan in _core.gossip.candidates(sides, r, wraparound=wraparound, shared=True)
            if plan.name == "StrideGos" and not half_duplex
        ],
    }
    best = models["strict"][0]
    proof = None
    if network.ranks <= MOST_PROVED:
        proof = with_spinner(
            "executing the fastest",
            lambda: _core.gossip.prove(sides, best, wraparound=wraparound, half_duplex=half_duplex),
            as_json,
        )
    if as_json:
        report = {"sides": sides, "wraparound": wraparound, "r": r, "bound": best.bound}
        report |= {model: [_row(plan) for plan in plans] for model, plans in models.items()}
        click.echo(json.dumps({**report, "proof": proof}, indent=2))
    else:
        _print(models, best, r, proof, _name(sides, wraparound))
    if times is not None:
        _draw_times(times, sides, wraparound, half_duplex, seconds, network.host_rate)
    if regions is not None:
        _draw_regions(regions, len(sides), wraparound, half_duplex)


def _grid(network: Network, source: str) -> tuple[list[int], bool]:
    from hocket._core import Shape

    if network.shape == Shape.hypercube:
        return [2] * network.sides[0], False
    if network.shape not in (Shape.torus, Shape.mesh):
        raise UsageError(
            f"{source} is not a ring, torus, mesh or hypercube",
            remedy="give one such as torus:64, torus:8x8 or mesh:16x16 ('hocket plan' serves any network)",
        )
    return list(network.sides), network.shape == Shape.torus


def _name(sides: list[int], wraparound: bool) -> str:
    from hocket.plots.gossip import network_name

    return network_name(sides, wraparound)


def _row(plan: _core.gossip.Plan) -> dict[str, Any]:
    return {
        "algorithm": plan.name,
        "parameters": parameters(plan),
        "steps": plan.steps,
        "volume": plan.volume,
        "time": plan.time,
        "ratio": plan.ratio,
    }


def parameters(plan: _core.gossip.Plan) -> str:
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


def _print(
    models: dict[str, list[_core.gossip.Plan]],
    best: _core.gossip.Plan,
    r: float,
    proof: dict[str, Any] | None,
    name: str,
) -> None:
    click.echo(f"{name}, r = {r:g}; bound {best.bound:.4g}")
    rows = []
    for model, plans in models.items():
        for plan in plans:
            label = plan.name + (" (links shared)" if model == "shared" else "")
            figures = (f"{plan.volume:.2f}", f"{plan.time:.2f}", f"{plan.ratio:.2f}")
            rows.append([label, parameters(plan), str(plan.steps), *figures])
    click.echo(as_columns(["algorithm", "parameters", "steps", "volume", "time", "time/bound"], rows))
    if proof is not None:
        volume = proof["strict_volume"]
        agrees = (
            proof["complete"] and proof["steps"] == best.steps and abs(volume - best.volume) <= 1e-6 * volume
        )
        verdict = "as the formula says" if agrees else f"NOT what the formula says: {proof['problem']}"
        links = "no link shared" if proof["link_disjoint"] else "links shared"
        click.echo(f"executed {best.name}: {proof['steps']} steps, volume {volume:.2f}, {links}: {verdict}")


def _draw_times(
    path: str, sides: list[int], wraparound: bool, half_duplex: bool, startup: float, rate: float
) -> None:
    from hocket.plots.gossip import draw_time_per_byte, time_per_byte

    data = with_spinner(
        "searching parameters",
        lambda: time_per_byte(
            sides, LENGTHS, startup, 1 / rate, wraparound=wraparound, half_duplex=half_duplex
        ),
    )
    click.echo(f"wrote {draw_time_per_byte(data, path)}", err=True)


def _draw_regions(path: str, dimensions: int, wraparound: bool, half_duplex: bool) -> None:
    from hocket.plots.gossip import draw_regions
    from hocket.plots.gossip import regions as find_regions

    sides = SIDES.get(dimensions, (3, 4, 5, 6, 8))
    data = with_spinner(
        "searching parameters",
        lambda: find_regions(
            sides, RATIOS, dimensions=dimensions, wraparound=wraparound, half_duplex=half_duplex
        ),
    )
    click.echo(f"wrote {draw_regions(data, path)}", err=True)
