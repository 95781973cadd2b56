"""Pictures of a simulation: what each kind shows, and drawing it into a file."""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hocket.cli._shared.work import write_atomically
from hocket.errors import MissingToolError

if TYPE_CHECKING:
    from hocket._core import Network, Schedule, Simulation

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
    with tempfile.TemporaryDirectory(prefix="hocket-") as folder:
        drawn = Path(folder) / f"picture{Path(path).suffix.lower()}"
        drawing(plots, drawn)
        write_atomically(path, [drawn.read_bytes()])
