"""A name of a module has one value: where files became one, a second value would count for both."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]


def assigned(module: ast.Module) -> Counter[str]:
    """How many times each name is assigned outside functions and branches."""
    targets = [
        target
        for node in module.body
        if isinstance(node, ast.Assign) or (isinstance(node, ast.AnnAssign) and node.value)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    ]
    return Counter(name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name))


def test_a_name_is_assigned_once() -> None:
    assert assigned(ast.parse("A, B = 1, 2\nA: int = 3"))["A"] == 2
    twice = [
        f"{path.relative_to(ROOT)}: {name}"
        for room in ("python", "bench", "papers")
        for path in (ROOT / room).rglob("*.py")
        for name, times in assigned(ast.parse(path.read_text(encoding="utf-8"))).items()
        if times > 1
    ]
    assert not twice
