"""``--plot KIND=FILE``: the pictures that a command draws."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from hocket.cli._shared.usage import Decorator
from hocket.errors import MissingToolError, UsageError

if TYPE_CHECKING:
    from hocket._core import Network, Schedule, Simulation

ENDINGS: Final = (".svg", ".png", ".pdf")
PLOTS = {
    "timeline": "phases and links over time",
    "throughput": "histograms of the throughput of messages and phases",
    "heat": "messages on each link in each phase",
}


def drawings_of(
    result: Simulation, schedule: Schedule, network: Network, title: str, flow: str, bound: float | None
) -> dict[str, Callable[[Any, Path], object]]:
    """Functions that draw each kind of picture, given the module of pictures and a file."""

    def gantt(plots: Any, path: Path) -> object:
        return plots.gantt(result, schedule, network, path, title=f"{title}, {flow}", bound=bound)

    def throughput(plots: Any, path: Path) -> object:
        stage = plots.stage(flow, result, schedule, network)
        return plots.draw_throughput([stage], path, title=title)

    def heat(plots: Any, path: Path) -> object:
        return plots.heat(schedule, network, path, title=title, simulation=result)

    return {"timeline": gantt, "throughput": throughput, "heat": heat}


def draw(path: str, drawing: Callable[[Any, Path], object]) -> None:
    """Puts a picture in place whole. Raises MissingToolError without a library that draws."""
    try:
        plots = importlib.import_module("hocket.pictures")
    except ImportError as error:
        raise MissingToolError(
            f"drawing needs a Python package that is missing: {error}", remedy="pip install matplotlib"
        ) from error
    drawing(plots, Path(path))


def plot_option(kinds: Mapping[str, str]) -> Decorator:
    """Option whose value is the pictures asked for, as tuples of kind and file. ``kinds``: what each shows."""

    def asked(_context: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> Any:
        return tuple(_kind_and_file(text, kinds) for text in texts)

    def complete(_context: click.Context, _option: click.Parameter, incomplete: str) -> list[str]:
        return [f"{kind}=" for kind in kinds if kind.startswith(incomplete)]

    shown = "; ".join(f"{kind}: {meaning}" for kind, meaning in kinds.items())
    return click.option(
        "--plot", "plots", metavar="KIND=FILE", multiple=True, callback=asked, shell_complete=complete,
        help=f"Draw a picture, as .svg, .png or .pdf; may be given several times. {shown}.",
    )  # fmt: skip


def _kind_and_file(text: str, kinds: Mapping[str, str]) -> tuple[str, str]:
    kind, equals, file = text.partition("=")
    if not equals or kind not in kinds or not file:
        raise UsageError(
            f"--plot {text!r} is not KIND=FILE",
            remedy=f"give {' or '.join(f'{each}=FILE' for each in kinds)}",
        )
    if Path(file).suffix.lower() not in ENDINGS:
        raise UsageError(f"--plot {text} has no known ending", remedy=f"use one of {', '.join(ENDINGS)}")
    return kind, file
