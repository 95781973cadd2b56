"""Pictures of gossip: drawn from the formulas, the same each time, with every winner named."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from hocket._papers import gossip
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from hocket.errors import UsageError
from hocket.pictures import style

sys.path.insert(0, str(Path(__file__).parents[3] / "papers" / "juurlink-sibeyn-rao"))
from gossip_pictures import (
    Regions,
    TimePerByte,
    draw_regions,
    draw_time_per_byte,
    regions,
    time_per_byte,
)

LENGTHS = [1 << i for i in range(4, 17, 3)]


@pytest.mark.parametrize("half_duplex", [False, True])
@pytest.mark.parametrize("sides", [[64], [8, 8]])
def test_time_per_byte(sides: list[int], half_duplex: bool, tmp_path: Path) -> None:
    data = time_per_byte(
        sides, LENGTHS, 150e-6, 11.5e-9, shared=not half_duplex, half_duplex=half_duplex, effort=500_000
    )
    assert ("StrideGos" in data.curves) is not half_duplex
    # Per-message costs count for less and less of a byte's time.
    for curve in data.curves.values():
        assert list(curve) == sorted(curve, reverse=True)
    r = 150e-6 / (LENGTHS[-1] * 11.5e-9)
    best = gossip.best(sides, r, shared=not half_duplex, half_duplex=half_duplex, effort=500_000)
    assert min(curve[-1] for curve in data.curves.values()) == pytest.approx(best.time * 11.5)
    text = draw_time_per_byte(data, tmp_path / "a.svg").read_text()
    assert f"Gossip on a {data.network}" in text and "t_s = 150 µs" in text
    assert best.name.replace("'", "&apos;") in text or best.name in text
    assert draw_time_per_byte(data, tmp_path / "b.svg").read_text() == text


def test_curves_that_are_left_out_are_counted(tmp_path: Path) -> None:
    curves = {f"algorithm {i}": [10.0 * i + 1, 5.0] if i < 3 else [100.0, 50.0 + i] for i in range(6)}
    data = TimePerByte("ring of 3", [1, 2], curves)
    text = draw_time_per_byte(data, tmp_path / "a.svg", most=3).read_text()
    assert "3 slower algorithms left out" in text
    assert "algorithm 2" in text and "algorithm 3" not in text


def drawn(monkeypatch: pytest.MonkeyPatch, draw: Callable[..., object], data: object, path: Path) -> Figure:
    kept: list[Figure] = []
    monkeypatch.setattr(style, "save", lambda figure, _: kept.append(figure))
    with style.context():
        draw(data, path)
        FigureCanvasAgg(kept[0]).draw()
    return kept[0]


def test_no_text_is_cut_off_or_overlaps(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    long = "approach 2222222 coloured and with a long name"
    lengths = [1 << i for i in range(4, 21)]
    for low, high in ((900_000, 950_000), (4000, 41_000), (1, 1e9)):
        curves = TimePerByte("ring of 3", lengths, {long: [high] * 16 + [low]})
        picture = drawn(monkeypatch, draw_time_per_byte, curves, tmp_path / "a.svg")
        axes = picture.axes[0]
        bounds = axes.get_legend().get_window_extent(), axes.yaxis.label.get_window_extent()
        assert all(box.x0 >= 0 and box.x1 <= picture.bbox.x1 for box in bounds)
        ticks = [label.get_window_extent() for label in axes.get_xticklabels()]
        assert all(a.x1 < b.x0 for a, b in pairwise(ticks)) and len(ticks) >= 5
        shown = [y for y in axes.get_yticks() if axes.get_ylim()[0] <= y <= axes.get_ylim()[1]]
        assert len(shown) >= 2 or high < 2 * low
    picture = drawn(monkeypatch, draw_regions, Regions("rings", [4], [1.0], [[long]]), tmp_path / "a.svg")
    assert picture.axes[0].get_legend().get_window_extent().x1 <= picture.bbox.x1


def test_regions_of_rings(tmp_path: Path) -> None:
    sides, ratios = [4, 8, 16, 32, 64, 128], [0.25, 1, 4, 16, 64, 256]
    data = regions(sides, ratios)
    assert data.winners[0][0] == "approach 1" and data.winners[-1][-1] == "CircGos"
    text = draw_regions(data, tmp_path / "a.svg").read_text()
    for name in {name for row in data.winners for name in row}:
        assert f"<!-- {name}, " in text  # the legend
    assert "<!-- CircGos -->" in text and "<!-- approach 1 -->" in text  # in their regions
    assert draw_regions(data, tmp_path / "b.svg").read_text() == text
    assert draw_regions(data, tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_regions_of_square_tori(tmp_path: Path) -> None:
    strict = regions([4, 8, 16, 27], [1, 16, 256], dimensions=2)
    shared = regions([4, 8, 16, 27], [1, 16, 256], dimensions=2, shared=True, effort=200_000)
    assert any("TorGos" in name for row in strict.winners for name in row)
    assert shared.winners[-1][-1] == "StrideGos"
    assert "square tori" in draw_regions(strict, tmp_path / "a.svg").read_text()


def test_data_with_gaps_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        draw_regions(Regions("rings", [4, 8], [1.0], [["approach 1"]]), tmp_path / "a.svg")
    with pytest.raises(UsageError):
        draw_time_per_byte(TimePerByte("ring of 4", [1, 2], {"approach 1": [1.0]}), tmp_path / "a.svg")
    with pytest.raises(UsageError):
        time_per_byte([4], [0], 1e-6, 1e-9)
    with pytest.raises(UsageError, match=r"\.svg"):
        draw_regions(Regions("rings", [4], [1.0], [["approach 1"]]), tmp_path / "a.doc")
    assert not list(tmp_path.iterdir())
