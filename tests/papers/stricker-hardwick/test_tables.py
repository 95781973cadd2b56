"""The talk's tables of permutations and sorts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hocket._core.memory import throughput

sys.path.insert(0, str(Path(__file__).parents[3] / "papers" / "stricker-hardwick"))
import tables as talk

README = Path(talk.__file__).with_name("README.md")


def test_the_talks_permutations() -> None:
    """Stricker and Hardwick, SPAA 1996: model 69, 38 and 32 MB/s; packing 14."""
    rows = {row.what: row for row in talk.permutations()}
    assert {name: round(row.model) for name, row in rows.items()} == {
        "blocks": 69,
        "transpose": 38,
        "random, chained": 32,
        "random, packed": 14,
    }
    assert all(round(row.model) == row.talk for row in rows.values())
    assert [row.measured for row in rows.values()] == [55.5, 29.5, 22.0, None]


def test_the_talks_sort() -> None:
    """Seven primitives, and 7.88 MB/s of all."""
    rows = talk.sort()
    assert len(rows) == 8
    for row in rows:
        assert row.model == pytest.approx(row.talk, rel=0.04), (
            row.what
        )  # the scan: 1C1 is 93, the talk says 90
    assert rows[-1].model == pytest.approx(7.88, abs=0.005)
    assert rows[-1].measured == 3.99


def test_the_measured_sort_agrees_with_its_measured_primitives() -> None:
    """The composition holds for the talk's measured column, too, within the rounding of 8 MB/s."""
    *primitives, whole = [row.measured for row in talk.sort()]
    keys, buckets = primitives[:3], primitives[3:]
    composed = 1 / (sum(1 / k for k in keys if k) + talk.BUCKET_SHARE * sum(1 / b for b in buckets if b))
    assert composed == pytest.approx(whole, rel=0.05)


def test_the_t3d_is_faster_chained_than_packed() -> None:
    figures = talk.T3D
    chained = throughput("wS0 || Nadp || 0Rw", figures)
    assert chained / throughput("wC1 o (1S0 || Nd || 0R1) o 1Cw", figures) == pytest.approx(
        32 / 14.1, rel=0.01
    )


def test_the_readme_shows_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    talk.main()
    printed = capsys.readouterr().out
    assert "whole sort" in printed and "7.88" in printed
    assert f"```\n{printed}```" in README.read_text()
