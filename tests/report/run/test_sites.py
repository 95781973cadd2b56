"""Places as people know them."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import asdict
from pathlib import Path

import pytest

from hocket.report.advice import Place, places, same_places
from hocket.report.ranks import Site
from hocket.report.summary import where_of


def told(site: Site, place: Place) -> str:
    """The place as tables show it."""
    return where_of({"object": site.object, "offset": site.offset, **asdict(place)})


def test_debug_information_names_function_and_line(tmp_path: Path) -> None:
    compiler, tool = shutil.which("cc") or shutil.which("gcc"), shutil.which("addr2line")
    if compiler is None or tool is None:
        pytest.skip("no C compiler or no addr2line")
    source, built = tmp_path / "turn.c", tmp_path / "libturn.so"
    source.write_text("int other(int x) { return x; }\n\nint turn(int x) {\n  return x + 1;\n}\n")
    subprocess.run([compiler, "-g", "-O0", "-shared", "-fPIC", str(source), "-o", str(built)], check=True)
    named = subprocess.run(["nm", str(built)], capture_output=True, text=True, check=True).stdout
    offset = next(int(line.split()[0], 16) for line in named.splitlines() if line.endswith(" T turn"))
    inside, beyond = Site(str(built), offset + 4, "", 0), Site(str(built), 2**40, "x", 0)
    found = places([inside, beyond])
    assert found[inside] == Place("turn", str(source), found[inside].line) and 3 <= found[inside].line <= 4
    assert told(inside, found[inside]) == f"turn (turn.c:{found[inside].line})"
    assert found[beyond] == Place("x")


@pytest.mark.parametrize(
    ("site", "text"),
    [
        (Site("/lib/libx.so", 0x10, "turn", 4), "turn (libx.so)"),
        (Site("/lib/libx.so", 0x10, "", 0), "libx.so+0x10"),
        (Site("", 0, "", 0), "an unknown place"),
        (Site("-v", 1, "", 0), "-v+0x1"),
        (Site("/dev/null", 1, "", 0), "null+0x1"),
    ],
)
def test_without_debug_information(site: Site, text: str) -> None:
    assert told(site, places([site])[site]) == text


def test_what_is_no_program_is_left_alone(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged"
    damaged.write_bytes(b"\x7fELF" + bytes(range(60)))
    site = Site(str(damaged), 7, "turn", 0)
    assert places([site]) == {site: Place("turn")}


def test_calls_of_one_line_are_one_place() -> None:
    first, second, other, unknown, stripped = (Site("/bin/x", offset, "", 0) for offset in range(5))
    line = Place("turn", "x.c", 7)
    found = {first: line, second: line, other: Place("turn", "x.c", 8), unknown: Place(), stripped: Place()}
    assert same_places(found) == {first: first, second: first, other: other}
