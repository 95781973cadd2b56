"""``hocket report``: what pages hold, and how files are recognised."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from hocket import _core
from hocket.cli import main
from hocket.network import read_network
from hocket.pictures.channels import picture
from hocket.planning.plan import plan_collective
from hocket.report import plan_part
from report_files import plan_file, run_report, tuned
from report_pages import Page

Capture = pytest.CaptureFixture[str]


def page_of(capsys: Capture, *arguments: str) -> Page:
    assert main(["report", *arguments, "-o", "-"]) == 0
    return Page(capsys.readouterr().out)


def texts(page: Page) -> list[str]:
    return [heading.split(" ")[0] for heading in page.headings]


def test_a_file_of_each_kind(tmp_path: Path, capsys: Capture) -> None:
    network = tmp_path / "topology.conf"
    network.write_text(
        "SwitchName=s0 Nodes=n[0-2]\nSwitchName=s1 Nodes=n[3-5]\nSwitchName=top Switches=s[0-1]\n"
    )
    bench = tmp_path / "times.csv"
    bench.write_text("# Ranks  8\nbytes,native_us,scheduled_us,bound_us\n8,10,12,\n1024,100,80,60\n")
    files = [
        plan_file(tmp_path / "p", "all-to-all", "star:4"), network, run_report(tmp_path / "r"),
        tuned(tmp_path / "l"), bench,
    ]  # fmt: skip
    page = page_of(capsys, *map(str, files), "star:3")
    kinds = [
        heading
        for heading in texts(page)[1:]
        if heading in ("Plan", "Network", "Run", "Learned", "Measurements")
    ]
    assert kinds == ["Plan", "Network", "Run", "Learned", "Measurements", "Network"]
    assert (
        set(page.links)
        == {f"#s{number}" for number in range(len(page.headings) - 1)}
        <= {f"#{i}" for i in page.ids}
    )
    assert page.loaded == ["data:,"]
    assert len(page.figures) >= 10


def test_figures_say_what_the_files_say(tmp_path: Path, capsys: Capture) -> None:
    """Texts of a picture stand in its comments: channels, candidates, calls, sizes."""
    files = [
        plan_file(tmp_path / "p", "all-gather", "tree:2x3"),
        run_report(tmp_path / "r"),
        tuned(tmp_path / "l"),
    ]
    page = page_of(capsys, *map(str, files))
    drawn = "".join(page.figures)
    for said in ("s1→s0", "from hosts (6)", "× the bound", "Alltoall, 64 KiB, turn (solver.c:15)", "window-2",
                 "as predicted", "1 KiB"):  # fmt: skip
        assert said in drawn, said


def test_large_plans_go_by_their_phases(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Capture
) -> None:
    path = plan_file(tmp_path / "plan", "all-to-all", "tree:3x3")
    assert "<!-- time (ms) -->" in page_of(capsys, str(path)).figures[1]
    monkeypatch.setattr(plan_part, "MOST_SIMULATED", 10)
    by_phases = page_of(capsys, str(path)).figures[1]
    assert "<!-- phase -->" in by_phases and "<!-- time" not in by_phases


def test_loads_are_those_of_the_routes() -> None:
    network = read_network("torus:3x3")
    planned = plan_collective("all-to-all", network, 100)
    found = plan_part.carried(network, planned.schedule)
    expected = np.zeros(network.channels)
    for src, dst in planned.schedule.hops():
        expected[network.route(src, dst)] += 100
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("form", "marks"),
    [("star:4", 5), ("tree:2x3", 9), ("torus:4x4", 16), ("hypercube:5", 32), ("star:300", 2), ("tree:4x16x16", 133),
     ("mesh:7", 7), ("torus:3x3x3", 27), ("dragonfly:9x4x2", 108), ("fat-tree:k=4", 36)],
)  # fmt: skip
def test_every_node_has_a_place_of_its_own(form: str, marks: int) -> None:
    network = read_network(form)
    found = picture(network)
    assert found is not None and len(found.marks) == marks
    assert len({(round(mark.x, 6), round(mark.y, 6)) for mark in found.marks}) == marks
    assert sorted(node for mark in found.marks for node in mark.nodes) == list(range(network.nodes))
    assert sorted(link for line in found.lines for link in line.links) == list(range(len(network.links)))


def test_routes_alone_have_no_picture() -> None:
    network = _core.Network.routed(
        ["a", "b"], [1, 1], ["ab", "ba"], [1e9, 1e9], [0.0, 0.0], [(0, 1, [0]), (1, 0, [1])]
    )
    assert picture(network) is None


def test_a_file_is_written_whole(tmp_path: Path, capsys: Capture) -> None:
    output = tmp_path / "page.html"
    assert main(["report", "star:3", "-o", str(output), "--title", "A <title>", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["sections"] == ["Network star:3"] and told["bytes"] == output.stat().st_size
    assert "<title>A &lt;title&gt;</title>" in output.read_text()


def refusal(capsys: Capture, *arguments: str) -> str:
    assert main(["report", *arguments, "-o", "-"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("hocket: ") and error.count("\n") == 1
    return error


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "a.txt",
            "what is this?\n",
            "a.txt: is of no known kind; name a plan, a network, a report",
        ),
        ("a.bin", "\0\1\2", "NUL byte"),
        ("a.txt", "", "is empty; name a plan"),
        ("a.hkt", "HOCKET\x1a\ntruncated", "make it again with 'hocket plan'"),
        ("a.json", '{"hocket_report": 1,\n "lines": [', "a.json:2: is not JSON"),
        ("a.json", '{"hocket_report": 7}', "is a report of version 7, and this Hocket reads 1"),
        ("a.json", '{"hocket_report": 1, "lines": [{"call": 3}]}', "entry 1 of 'lines' has no 'call'"),
        ("a.csv", "# a: b\nbytes,native_us\n1,2\n3\n", "a.csv:4: has 1 cells under 2 names"),
        ("a.txt", "hocket choices 2\ndamaged\n", "line 2: damaged"),
        ("a.toml", "[[switch]]\nname = 3\n", "a.toml:"),
    ],
)
def test_what_is_wrong_is_said(
    name: str, content: str, message: str, tmp_path: Path, capsys: Capture
) -> None:
    path = tmp_path / name
    path.write_text(content)
    assert message in refusal(capsys, str(path))


def test_missing_files_and_places(tmp_path: Path, capsys: Capture) -> None:
    assert "no such file" in refusal(capsys, str(tmp_path / "no-such-file"))
    assert main(["report", "star:3", "-o", str(tmp_path / "no" / "page.html")]) == 2
    assert "there is no directory" in capsys.readouterr().err


def test_one_thing_on_standard_output(capsys: Capture) -> None:
    assert "both go to standard output" in refusal(capsys, "star:3", "--json")
