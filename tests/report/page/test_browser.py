"""Pages in a browser: nothing goes wrong, nothing is fetched from elsewhere, every figure is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hocket.cli import main
from report_files import plan_file, run_report, tuned
from report_pages import CHROMIUM, Browser, Page

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="no chromium (Debian: chromium)"),
    pytest.mark.timeout(120),
]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    opened = Browser(tmp_path_factory.mktemp("browser"))
    yield opened
    opened.close()


def report(folder: Path, *files: Path | str) -> Path:
    page = folder / "page.html"
    assert main(["report", *map(str, files), "-o", str(page)]) == 0
    return page


def check(browser: Browser, page: Path) -> None:
    found, written = browser.open(page), Page(page.read_text())
    assert found.errors == []
    assert found.requests == []
    assert found.drawn == len(written.figures) > 0
    assert found.sections == len(written.headings) - 1


def test_plans_and_networks(browser: Browser, tmp_path: Path) -> None:
    """Bars, an image of many messages, forwarding, a torus, a tree of 1,024 hosts."""
    plans = [
        plan_file(tmp_path / "a.hkt", "all-to-all", "tree:2x3"),
        plan_file(tmp_path / "b.hkt", "all-to-all", "tree:6x8"),
        plan_file(tmp_path / "c.hkt", "all-gather", "torus:3x3x3"),
    ]
    check(browser, report(tmp_path, *plans, "tree:4x16x16", "hypercube:4"))


def test_runs_and_measurements(browser: Browser, tmp_path: Path) -> None:
    bench = tmp_path / "times.csv"
    bench.write_text("bytes,native_us,scheduled_us,bound_us\n8,10,12,\n1024,100,80,60\n")
    files = [run_report(tmp_path / "run.json"), tuned(tmp_path / "learned.txt"), bench]
    check(browser, report(tmp_path, *files))


def test_hostile_names(browser: Browser, tmp_path: Path) -> None:
    """Content of files is text and never part of the page."""
    network = tmp_path / "net.toml"
    network.write_text(
        '[[switch]]\nname = "s<script>alert(1)</script>"\nhosts = "n[0-3]"\nrate = "1Gbit"\nlatency = "1us"\n'
    )
    line = {
        "call": "MPI_<b>x</b>",
        "function": "</script><script>document.title='x'</script>",
        "file": "<i>.c",
    }
    files = [run_report(tmp_path / "<b>.json", **line)]
    page = report(tmp_path, *files)
    check(browser, page)
    assert "<script>document.title" not in page.read_text()
