"""The pictures, in the look of hocket.pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from matplotlib.colors import BoundaryNorm, ListedColormap
from numpy.typing import NDArray

from hocket.pictures import style

PICTURES: Final = Path(__file__).parent / "results"
COLOURS: Final = {
    "AC": "#6b7785",
    "LP": "#e69f00",
    "RS_N": "#56b4e9",
    "RS_NL": "#0072b2",
    "RS_NH": "#009e73",
    "RS_NLH": "#cc79a7",
    "colouring": "#b8a800",
    "open-shop": "#7f4fa8",
    "critical": "#d55e00",
    "list": "#a8765a",
}
NICE: Final = ("AC", "LP", "RS_N", "RS_NL", "RS_NH", "RS_NLH")


@dataclass(frozen=True)
class Curves:
    title: str
    sizes: Sequence[int]  # bytes
    times: Mapping[str, Sequence[float]]  # per scheme


@dataclass(frozen=True)
class Map:
    title: str
    densities: Sequence[int]
    sizes: Sequence[int]  # bytes
    winners: Sequence[Sequence[str]]  # [size][density]


def bytes_text(count: float) -> str:
    for factor, unit in ((1 << 20, "M"), (1 << 10, "K")):
        if count >= factor:
            return f"{count / factor:g}{unit}"
    return f"{count:g}"


def _panels(rows: int, columns: int, title: str, subtitle: str) -> tuple[Any, NDArray[Any]]:
    height = 1.0 + 3.1 * rows
    figure = style.new_figure(4.6 * columns, height)
    axes = figure.subplots(rows, columns, squeeze=False)
    figure.subplots_adjust(
        left=0.62 / (4.6 * columns), right=1 - 0.15 / (4.6 * columns), bottom=0.85 / height,
        top=1 - 1.0 / height, hspace=0.42, wspace=0.2,
    )  # fmt: skip
    style.headline(figure, title, subtitle, left=0.03)
    return figure, axes


def _legend(figure: Any, handles: Sequence[Any], labels: Sequence[str]) -> None:
    figure.legend(handles, labels, loc="lower center", ncols=len(labels), frameon=False, fontsize=8)


def draw_histograms(
    panels: Sequence[tuple[str, Mapping[str, NDArray[np.float64]]]], path: Path, samples: int
) -> None:
    """Costs over their mean, a panel per machine."""
    with style.context():
        figure, axes = _panels(
            1, len(panels), f"{samples:,} random permutations of 1 KB", "cost over the mean; simulated"
        )
        for axis, (title, found) in zip(axes.flat, panels, strict=True):
            for (model, times), colour in zip(found.items(), ("#0072b2", "#e69f00"), strict=False):
                mean = times.mean()
                near = (abs(times / mean - 1) <= 0.05).mean()
                label = f"{model}: {near:.1%} within 5 %"
                axis.hist(times / mean, bins=np.arange(0.4, 1.9, 0.02), color=colour, alpha=0.7, label=label)
            axis.axvspan(0.95, 1.05, color=style.FAINT, zorder=0)
            axis.set_yscale("log")
            axis.set_title(title, fontsize=10)
            axis.set_xlabel("cost / mean")
            axis.legend(frameon=False, fontsize=8)
            for side in ("right", "top"):
                axis.spines[side].set_visible(False)
        axes.flat[0].set_ylabel("permutations")
        style.save(figure, path)


def draw_curves(panels: Sequence[Curves], path: Path, title: str, subtitle: str) -> None:
    """Times over those of the best of the paper's six, two panels in a row."""
    with style.context():
        figure, axes = _panels(-(-len(panels) // 2), 2, title, subtitle)
        for axis, panel in zip(axes.flat, panels, strict=True):
            best = np.min([panel.times[name] for name in NICE], axis=0)
            for name, times in panel.times.items():
                axis.plot(
                    panel.sizes,
                    np.array(times) / best,
                    color=COLOURS[name],
                    label=name,
                    linewidth=1.4,
                    linestyle="-" if name in NICE else "--",
                )
            axis.set_xscale("log", base=2)
            axis.xaxis.set_major_formatter(lambda x, _: bytes_text(x))
            axis.set_ylim(top=min(3.0, axis.get_ylim()[1]))
            axis.set_title(panel.title, fontsize=9)
            axis.set_xlabel("msg_unit (bytes)")
            axis.grid(axis="y", color=style.FAINT, zorder=0)
            for side in ("right", "top"):
                axis.spines[side].set_visible(False)
        for axis in axes[:, 0]:
            axis.set_ylabel("time / best of the six")
        _legend(figure, *axes.flat[0].get_legend_handles_labels())
        style.save(figure, path)


def draw_regions(panels: Sequence[Map], columns: int, path: Path, title: str, subtitle: str) -> None:
    """Draw the fastest scheme in the plane of density and message size."""
    with style.context():
        figure, axes = _panels(len(panels) // columns, columns, title, subtitle)
        names = list(NICE)
        colours = ListedColormap([COLOURS[name] for name in names])
        for axis, panel in zip(axes.flat, panels, strict=True):
            cells = np.array([[names.index(name) for name in row] for row in panel.winners])
            axis.pcolormesh(
                np.arange(len(panel.densities) + 1),
                np.arange(len(panel.sizes) + 1),
                cells,
                cmap=colours,
                norm=BoundaryNorm(np.arange(len(names) + 1) - 0.5, len(names)),
                edgecolors="white",
                linewidth=0.4,
            )
            axis.set_xticks(np.arange(len(panel.densities)) + 0.5, map(str, panel.densities))
            places = range(0, len(panel.sizes), 2)
            axis.set_yticks([i + 0.5 for i in places], [bytes_text(panel.sizes[i]) for i in places])
            axis.tick_params(length=0)
            for side in axis.spines.values():
                side.set_visible(False)
            axis.set_title(panel.title, fontsize=9)
        for axis in axes[:, 0]:
            axis.set_ylabel("msg_unit (bytes)")
        for axis in axes[-1]:
            axis.set_xlabel("density d")
        patches = [axes.flat[0].bar(0, 0, color=COLOURS[name]) for name in names]
        for axis in axes.flat[:1]:
            axis.set_xlim(0, len(panels[0].densities))
            axis.set_ylim(0, len(panels[0].sizes))
        _legend(figure, patches, names)
        style.save(figure, path)
