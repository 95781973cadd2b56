"""``hocket simulate``: how long, how busy, and a picture of it."""

import importlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click

from hocket import _core
from hocket._core import Network, Plan, Simulation, TwoLevelExchange
from hocket.cli._shared.commands import CollectiveName, Number, command, given, named, option
from hocket.cli._shared.options import (
    calibration_option,
    defaults_options,
    flow_option,
    load_network,
    load_plan,
    loud,
    network_option,
    plot_option,
)
from hocket.cli._shared.request import (
    Request,
    algorithm_option,
    alpha_option,
    bytes_option,
    demand_option,
    root_option,
    seed_option,
    size_text,
)
from hocket.cli._shared.two_level import TWO_LEVEL, memory_line, plan_two_level, two_level_option
from hocket.cli._shared.work import as_columns, check_writable, json_option, tell, with_spinner
from hocket.costs.model import read_profile
from hocket.demand.collectives import ALL_TO_ALL, COLLECTIVES, IRREGULAR, usual_alpha
from hocket.errors import MissingToolError, UsageError
from hocket.network import Defaults, KnownNetwork
from hocket.planning.candidates import forecast_of
from hocket.planning.network_check import check_same_network
from hocket.planning.plan import figures_of, flow_of, peak_rss_bytes, simulation
from hocket.units import format_time, parse_time

MOST_LINES = 16
PLOTS = {
    "timeline": "phases and links over time",
    "throughput": "histograms of the throughput of messages and phases",
    "heat": "messages on each link in each phase",
}
# Parameters of what only an exchange without a plan can be told.
PLANNING = ("pattern", "size", "traffic", "algorithm", "seed", "root", "two_level")


@command(
    "hocket simulate plan.hkt --network cluster.toml --plot timeline=plan.svg",
    "hocket simulate --network tree:4x8 --pattern all-gather --bytes 64KiB",
)
@click.argument("path", metavar="[PLAN]", required=False)
@network_option()
@option("--pattern COLLECTIVE", "Collective to plan where no PLAN is given, such as all-gather.",
        type=CollectiveName(list(COLLECTIVES)), default=ALL_TO_ALL)  # fmt: skip
@bytes_option()
@demand_option(required=False)
@algorithm_option
@seed_option
@root_option
@flow_option("Flow control between messages.  [default: as planned]")
@alpha_option(*COLLECTIVES.values())
@option("--token-cost TIME", "Cost of a token besides its latency.", default="0")
@option("--barrier-cost TIME", "Cost of a barrier.", default="0")
@option("--overhead X", "Bytes on the link per byte of data. TCP over Ethernet has 1.062.", type=Number(min=1, max=100),
        default=1.0)  # fmt: skip
@calibration_option
@two_level_option()
@plot_option(PLOTS)
@defaults_options
@json_option
def simulate(
    path: str | None,
    source: str,
    pattern: str,
    flow: str | None,
    alpha: str | None,
    token_cost: str,
    barrier_cost: str,
    overhead: float,
    plots: tuple[tuple[str, str], ...],
    defaults: Defaults,
    **asked: Any,
) -> None:
    """Predict the time of PLAN on NETWORK, and the load of each link.

    Without PLAN, a new exchange is planned: --pattern, --bytes or --demand, --root and --algorithm describe it."""
    for _, file in plots:
        check_writable(file)
    counts = pattern == IRREGULAR or COLLECTIVES[pattern].forwards
    request = Request(pattern, alpha=alpha if counts else None, **asked)
    _check_options(path, pattern, request.two_level)
    known = load_network(source, defaults)
    network = known.network
    of_ranks: TwoLevelExchange | None = None
    seconds = None if alpha is None else named("--alpha", parse_time, alpha)
    if path is not None:
        plan = load_plan(path)
        check_same_network(plan, network, path, source, known.is_measured)
    elif request.two_level:
        plan, _ = plan_two_level(known, request)
        of_ranks, network = plan.two_level.exchange, plan.network
        plan = _core.Plan(network, of_ranks.schedule, plan.waits, of_ranks.between, plan.algorithm)
    else:
        plan = request.plan(network)
    schedule, waits, demand = plan.schedule, plan.waits, plan.demand
    seconds = usual_alpha(demand) if seconds is None else seconds
    flow = flow or flow_of(waits)
    costs = _core.ModelParameters(
        alpha=seconds,
        token=named("--token-cost", parse_time, token_cost),
        barrier=named("--barrier-cost", parse_time, barrier_cost),
        overhead=overhead,
    )
    work = partial(simulation, network, schedule, waits, flow, costs)
    result = with_spinner(f"simulating {len(schedule)} messages", work)
    figures = figures_of(plan, plan.least(network, seconds), result.seconds)
    sizes = f"{demand.messages} of " * (demand.pattern == IRREGULAR) + size_text(demand)
    # Bytes carried by an all-to-all are given, so its picture shows the bound for all that the links carry.
    least = figures["bound_seconds"] if demand.pattern != ALL_TO_ALL else None
    title = f"{demand.pattern} by {plan.algorithm}, {sizes}"
    for kind, file in plots:
        with_spinner("drawing", partial(_draw, kind, Path(file), plan, result, title, flow, least))
    channels = _channels(network, result)
    forecast = None
    if of_ranks is None:
        forecast = with_spinner(
            "predicting", lambda: forecast_of(plan, request.calibration, known.description)
        )
    report: dict[str, Any] = {
        **figures,
        "flow": flow,
        "tokens": result.tokens,
        "channels": channels,
        "peak_rss_bytes": peak_rss_bytes(),
        **known.rates_as_json(),
        **({} if forecast is None else {"forecast": forecast.as_json()}),
    }
    lines = _lines(report, sizes, known)
    if of_ranks is not None:
        in_memory = of_ranks.predict(network, waits, _core.ModelParameters(), read_profile(), 1 << 62)
        whole = in_memory.put + result.seconds + in_memory.take
        report["two_level"] = {
            "ranks": of_ranks.demand.ranks, "memory_bytes": max(of_ranks.memory),
            "put_seconds": in_memory.put, "take_seconds": in_memory.take, "seconds": whole,
        }  # fmt: skip
        lines.append(f"{memory_line(in_memory, of_ranks)}, in all {format_time(whole, 4)}")
    if forecast is not None:
        lines += forecast.lines()
    tell(report, lambda: [*lines, *_channel_lines(channels), *(f"wrote {file}" for _, file in plots)])


def _check_options(path: str | None, pattern: str, two_level: bool) -> None:
    """Refuses options that would have no effect, and --two-level for patterns that are not aggregated."""
    if two_level and pattern not in TWO_LEVEL:
        raise UsageError(
            f"a {pattern} is not aggregated", remedy=f"--two-level serves {', '.join(TWO_LEVEL)}"
        )
    if path is not None:
        _refuse(given(*PLANNING), f"would plan an exchange, but {path} is a plan", "give no plan")
        return
    if pattern == IRREGULAR:
        why = "sets one size, but --demand gives each message its size"
        _refuse(given("size"), why, "give another --pattern")
    else:
        _refuse(given("traffic"), f"does not belong to --pattern {pattern}", "give --pattern irregular")
    if not COLLECTIVES[pattern].rooted:
        _refuse(given("root"), f"does not belong to --pattern {pattern}", "give --pattern broadcast")


def _lines(report: dict[str, Any], sizes: str, known: KnownNetwork) -> list[str]:
    of = "of" if report["pattern"] == ALL_TO_ALL else "for"
    predicted, bound = format_time(report["predicted_seconds"], 5), format_time(report["bound_seconds"], 5)
    return [
        f"'{report['algorithm']}' under {report['flow']}: {report['transfers']} messages {of} {sizes} in "
        f"{report['phases']} phases, {report['tokens']} tokens",
        f"predicted   {predicted}, bound {bound}, ratio {report['time_ratio']:.3f}"
        f"{' of assumed capacities' if known.assumed else ''}",
        *loud(known),
    ]


def _draw(
    kind: str, file: Path, plan: Plan, result: Simulation, title: str, flow: str, bound: float | None
) -> None:
    """Puts a picture in place whole. Raises MissingToolError without a library that draws."""
    try:
        plots = importlib.import_module("hocket.pictures")
    except ImportError as error:
        raise MissingToolError(
            f"drawing needs a Python package that is missing: {error}", remedy="pip install matplotlib"
        ) from error
    schedule, network = plan.schedule, plan.network
    if kind == "timeline":
        plots.gantt(result, schedule, network, file, title=f"{title}, {flow}", bound=bound)
    elif kind == "throughput":
        plots.draw_throughput([plots.stage(flow, result, schedule, network)], file, title=title)
    else:
        plots.heat(schedule, network, file, title=title, simulation=result)


def _channel_lines(channels: list[dict[str, Any]]) -> Iterator[str]:
    busiest = sorted(channels, key=lambda channel: -channel["utilisation"])
    rows = [
        [c["channel"], f"{100 * c['utilisation']:.1f} %", f"{100 * c['busy']:.1f} %"]
        for c in busiest[:MOST_LINES]
    ]
    if rows:
        yield "\n" + as_columns(["channel", "used", "busy"], rows)
    if len(busiest) > MOST_LINES:
        yield f"and {len(busiest) - MOST_LINES} channels used less, see --json"


def _refuse(options: list[str], why: str, instead: str) -> None:
    if options:
        raise UsageError(f"{' and '.join(options)} {why}", remedy=f"leave it out, or {instead}")


def _channels(network: Network, result: Simulation) -> list[dict[str, Any]]:
    """Per channel: bytes over what it could have carried, and the share of the time it was in use."""
    seconds = result.seconds
    rows = []
    for channel, (carried, busy) in enumerate(zip(result.channel_bytes, result.channel_busy, strict=True)):
        rows.append({
            "channel": network.channel_name(channel),
            "bytes": float(carried),
            "utilisation": float(carried) / (network.rate(channel) * seconds) if seconds > 0 else 0.0,
            "busy": float(busy) / seconds if seconds > 0 else 0.0,
        })  # fmt: skip
    return rows
