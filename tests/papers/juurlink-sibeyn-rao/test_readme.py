"""The README says what the library computes and prints."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hocket._papers import gossip

sys.path.insert(0, str(Path(__file__).parents[3] / "papers" / "juurlink-sibeyn-rao"))
import compare
from compare import parameters

PAGE = Path(compare.__file__).with_name("README.md")
RINGS = [(9, 16), (27, 16), (81, 16), (81, 64), (243, 64), (64, 16), (256, 16)]
TORI = [([8, 8], 16), ([9, 9], 64), ([16, 16], 64), ([27, 27], 64), ([9, 9, 9], 64)]


def number(value: float) -> str:
    return f"{round(value, 1):g}"


def row(sides: list[int], r: float, *names: str) -> str:
    plans = {plan.name: plan for plan in gossip.candidates(sides, r, shared=True)}
    cells = [f"{'×'.join(map(str, sides))}, {r}"]
    for name in names:
        plan = plans[name]
        searched = name in ("CircGos", "TorGos'", "CubGos'")
        cells.append(number(plan.time) + (f" ({parameters(plan)})" if searched else ""))
    cells += [number(plan.bound), number(plans["StrideGos"].time)]
    return "| " + " | ".join(cells) + " |"


def table(header: str) -> list[str]:
    lines = PAGE.read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"| {header} |")) + 2
    end = next(i for i in range(start, len(lines)) if not lines[i].startswith("|"))
    return lines[start:end]


def test_rings() -> None:
    assert table("ring n, r") == [row([n], r, "approach 1", "approach 2", "CircGos") for n, r in RINGS]


def test_tori() -> None:
    expected = []
    for sides, r in TORI:
        d = len(sides)
        names = (f"approach {'1' * d} coloured", "HighDimGos'", "TorGos'" if d == 2 else "CubGos'")
        expected.append(row(sides, r, *names))
    assert table("torus, r") == expected


def test_the_example_is_what_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    block = PAGE.read_text().split("```\n")[1]
    command, _, printed = block.partition("\n")
    assert command == "$ python papers/juurlink-sibeyn-rao/compare.py torus:64 --ratio 16"
    compare.main(command.split()[3:])
    assert capsys.readouterr().out == printed


@pytest.mark.parametrize("name", ["gossip-regions-tori.png", "gossip-times-ring.png"])
def test_pictures_are_there(name: str) -> None:
    assert f"(results/{name})" in PAGE.read_text()
    assert (PAGE.parent / "results" / name).read_bytes().startswith(b"\x89PNG")
