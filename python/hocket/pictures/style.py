"""The look that all pictures share. Colours: Okabe and Ito's, which colour-blind readers can tell apart."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, cast

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from hocket.errors import UsageError
from hocket.pictures.channels import Group, Row
from hocket.system.files import replaced

INK: Final = "#1d2733"
MUTED: Final = "#6b7785"
FAINT: Final = "#e6e9ed"
ROW: Final = "#f4f6f8"
IDLE: Final = "#dfe2e6"
ALARM: Final = "#d55e00"
GROUP_COLOURS: Final = {
    Group.SWITCH_LINK: "#0072b2",
    Group.UP: "#56b4e9",
    Group.DOWN: "#e69f00",
    Group.LINK: "#009e73",
}
FORMATS: Final = (".svg", ".png", ".pdf")
DPI: Final = 160
_RC: Final[dict[str, Any]] = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": MUTED,
    "xtick.color": MUTED,
    "ytick.color": INK,
    "svg.hashsalt": "hocket",  # the same picture, the same file
    "svg.fonttype": "path",
    "text.parse_math": False,  # names are names
}


def context() -> Any:
    """Context in which figures are made and saved in this style; nothing global changes."""
    return mpl.rc_context(cast(Any, _RC))


def check(path: str | Path) -> Path:
    path = Path(path)
    if path.suffix.lower() not in FORMATS:
        raise UsageError(f"{path.name!r} names no picture format", remedy="end it in .svg, .png or .pdf")
    return path


def new_figure(width: float, height: float) -> Figure:
    return Figure(figsize=(width, height), facecolor="white")


def save(figure: Figure, path: Path, dpi: int = DPI) -> None:
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix.lower())
    with replaced(path) as temporary:
        figure.savefig(temporary, format=path.suffix[1:].lower(), dpi=dpi, metadata=metadata)


def plain(axes: Axes) -> None:
    """Hide the frame except for the time axis."""
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)
    axes.tick_params(length=0)
    axes.tick_params(axis="x", length=3)


def bands(axes: Axes, rows: Sequence[Row]) -> list[float]:
    """The top of each row in a picture of rows below each other; each band begins with its name."""
    tops: list[float] = []
    y, before = 0.0, None
    for row in rows:
        if row.band is not before:
            y += 1.3 if before is None else 1.6
            axes.text(
                0, y - 0.25, f"{row.band.name} ({len(row.band.channels):,})", fontsize=8.5, fontweight="bold",
                color=GROUP_COLOURS[row.band.group],
            )  # fmt: skip
            before = row.band
        tops.append(y)
        y += 1
    axes.set_ylim((tops[-1] if tops else 0.0) + 1, -0.2)
    plain(axes)
    return tops


def headline(figure: Figure, title: str, subtitle: str, *, left: float) -> None:
    """A bold line and a quiet one below it, at fixed distances from the top edge."""
    height = figure.get_size_inches()[1]
    figure.text(left, 1 - 0.3 / height, title, fontsize=13, fontweight="bold", va="center")
    figure.text(left, 1 - 0.56 / height, subtitle, fontsize=9.5, color=MUTED, va="center")


def footnote(figure: Figure, left: float, *notes: str) -> None:
    text = "; ".join(note for note in notes if note)
    figure.text(left, 0.16 / figure.get_size_inches()[1], text, fontsize=7.5, color=MUTED, style="italic")


def colour_strip(figure: Figure, top: float, tall: float, title: str) -> Axes:
    """Axes of a strip of colours at the right edge, with ticks beside it; ``top`` and ``tall`` are in inches."""
    width, height = figure.get_size_inches()
    strip = figure.add_axes((1 - 0.62 / width, 1 - (top + tall) / height, 0.11 / width, tall / height))
    strip.set_xticks([])
    strip.yaxis.tick_right()
    strip.tick_params(length=0, labelsize=7.5)
    strip.set_title(title, fontsize=8, color=MUTED, pad=4)
    for spine in strip.spines.values():
        spine.set_visible(False)
    return strip


def time_unit(seconds: float) -> tuple[float, str]:
    """Factor that makes a number of seconds short, and the unit of the product."""
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "µs")):
        if seconds * factor >= 1:
            return factor, unit
    return 1e9, "ns"


def counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
