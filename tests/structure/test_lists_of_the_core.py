"""The core's lists are made anew at each reading: a loop that reads one for each element takes quadratic time."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "bindings/network.cpp"
NETWORK = {"network", "spec", "_core"}  # how variables and members of these types are called


def lists() -> set[str]:
    taken = r"&links_of|&Network::hosts|\[\]\(const \w+& \w\) \{ return \w\.spec\(\)\.\w+;"
    made = rf'def_prop_ro\(\s*"(\w+)", (?:{taken})|def_ro\("(\w+)", &NetworkSpec::'
    return {name for names in re.findall(made, SOURCE.read_text()) for name in names if name}


def repeated(node: ast.AST) -> list[ast.AST]:
    """The parts of a loop that are evaluated more than once."""
    match node:
        case ast.For(body=body):
            return [*body]
        case ast.While(test=test, body=body):
            return [test, *body]
        case ast.ListComp(elt=value, generators=loops) | ast.SetComp(elt=value, generators=loops):
            values = [value]
        case ast.GeneratorExp(elt=value, generators=loops):
            values = [value]
        case ast.DictComp(key=key, value=value, generators=loops):
            values = [key, value]
        case _:
            return []
    return [*values, *(test for loop in loops for test in loop.ifs), *(loop.iter for loop in loops[1:])]


def elements_in_loops(text: str) -> Iterator[tuple[int, str]]:
    """Line and list of each element that a loop takes from a list of the core without having kept the list."""
    parts = (part for node in ast.walk(ast.parse(text)) for part in repeated(node))
    known = lists()
    for part in parts:
        for inside in ast.walk(part):
            if isinstance(inside, ast.Subscript) and isinstance(inside.value, ast.Attribute):
                owner = inside.value.value
                name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
                if name in NETWORK and inside.value.attr in known:
                    yield inside.lineno, inside.value.attr


def test_the_check_finds_them() -> None:
    assert {"names", "links", "ranks", "ranks_per_node", "hosts", "ports", "forwards"} <= lists()
    assert list(elements_in_loops("x = [network.names[i] for i in y]\nz = network.names[0]")) == [
        (1, "names")
    ]
    assert not list(elements_in_loops("x = [i for i in network.names[1:]]"))
    assert list(elements_in_loops("for i in y:\n    use(self.network.ports[i])")) == [(2, "ports")]


def test_loops_keep_the_lists_that_they_read() -> None:
    found = {
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in sorted((ROOT / "python").rglob("*.py"))
        for line, name in elements_in_loops(path.read_text())
    }
    assert not found, "\n".join(sorted(found))
