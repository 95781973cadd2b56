"""Every command line that documents, headers and messages show can be typed: command, options and choices exist.

Nothing is run: click parses the words, as far as placeholders (``PLAN``, ``…``) let it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from bad_input import SORT, commands
from hocket import _core
from hocket.cli import cli

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("papers/*/README.md")])
SOURCES = sorted(
    [*ROOT.glob("runtime/**/*.h"), *ROOT.glob("python/**/*.py"), *ROOT.glob("examples/**/*.[ch]")]
)
FIRST_LINE_OF_A_PROFILE = "hocket memory profile 1"
# Macros of generated sources, a C constant, an option of CMake, a misspelling that 'hocket doctor' finds.
NO_VARIABLES = {
    "HOCKET_CHECK_NAMES",
    "HOCKET_NAP",
    "HOCKET_SUCCESS",
    "HOCKET_SEGMNT",
    "HOCKET_READY_RUNTIMES",
}
EVERY = dict(commands())
PLACEHOLDER = re.compile(r"[…\[\]|]|\.\.\.")


def shown_in_blocks(text: str) -> Iterator[str]:
    """Commands of fenced blocks, continued lines joined."""
    for block in re.findall(r"^```\w*\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        for line in re.sub(r"\\\n\s*", "", block).splitlines():
            if (match := re.match(r"(?:\$ )?(hocket \S.*)", line)) and match[1] != FIRST_LINE_OF_A_PROFILE:
                yield match[1]


def shown_inline(text: str) -> Iterator[str]:
    """Commands between backquotes or quotation marks."""
    for match in re.finditer(r"[`'](hocket [a-z][^`'\n]*)[`']", text):
        yield match[1]


def lines_of(path: Path) -> list[str]:
    text = path.read_text()
    commands = (
        [*shown_in_blocks(text), *shown_inline(text)] if path.suffix == ".md" else [*shown_inline(text)]
    )
    return sorted(set(commands))


def command_of(words: list[str]) -> tuple[click.Command, list[str]]:
    """The command that the words name, and what is left of them."""
    command: click.Command = cli
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        if PLACEHOLDER.search(words[0]) or words[0].isupper() or not words[0].islower():
            return command, []
        found = command.get_command(click.Context(command), words[0])
        if found is None:
            raise LookupError(f"there is no command '{words[0]}'")
        command, words = found, words[1:]
    return command, words


def problem(line: str) -> str:
    """Problem of a command line; empty if there is none."""
    line = re.split(r" (?:#|>|\||&&|<) ?|; ", line.rstrip(".,:;)"))[0]
    words = re.sub(r"[\"']|\$\(", "", line).split()[1:]
    try:
        command, rest = command_of(words)
    except LookupError as error:
        return str(error)
    options = {name: p for p in command.params for name in (*p.opts, *p.secondary_opts)}
    options |= {"--help": None, "-h": None, "--version": None}
    for index, word in enumerate(rest):
        if word == "--" or (not word.startswith("-") and command.name in ("run", "record") and index > 0):
            if word == "--":
                break
            continue
        name, _, value = word.partition("=")
        if (
            not name.startswith("-")
            or len(name) < 2
            or re.fullmatch(r"-\d.*", name)
            or PLACEHOLDER.search(name)
        ):
            continue
        if name not in options and not re.fullmatch(r"-v+", name):
            return f"'{command.name}' has no option '{name}'"
        option = options.get(name)
        if option is not None and isinstance(option.type, click.Choice):
            given = value or (rest[index + 1] if index + 1 < len(rest) else "")
            if given and not PLACEHOLDER.search(given) and given not in option.type.choices:
                return f"'{given}' is no choice of {name}"
    return ""


@pytest.mark.parametrize("path", [*DOCUMENTS, *SOURCES], ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_exist(path: Path) -> None:
    wrong = {line: said for line in lines_of(path) if (said := problem(line))}
    assert not wrong


@pytest.mark.parametrize("name", EVERY)
def test_examples_of_help_can_be_typed(name: str) -> None:
    """The options of hocket-sort exist; it is a program of its own."""
    command = EVERY[name]
    for example in command.examples:
        line = example[example.index("hocket") :].partition(")")[0]
        if name == SORT:
            options = {option for parameter in command.params for option in parameter.opts}
            assert options >= {word for word in line.split() if word.startswith("-")}
        else:
            assert problem(line) == ""


def test_wrong_commands_are_found() -> None:
    assert problem("hocket plam all-to-all") == "there is no command 'plam'"
    assert problem("hocket info --pattern irregular") == "'info' has no option '--pattern'"
    assert problem("hocket info --abi nativ") == "'nativ' is no choice of --abi"
    assert not problem("hocket plan all-to-all --network star:4 -o a.hkt")
    assert len(lines_of(ROOT / "docs" / "commands.md")) > 20


# Options of launchers and of tools that make network files.
OF_OTHERS = {"--export", "--ntasks-per-node", "--node-name-map", "--rankfile", "--node-rank", "--master-addr"}


def unknown(text: str) -> set[str]:
    """Options that running text names by themselves and no command has; targets that the Makefile lacks."""
    options = {"--help", "--version"} | OF_OTHERS
    options |= {
        name for command in EVERY.values() for p in command.params for name in (*p.opts, *p.secondary_opts)
    }
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = re.findall(r"`(--[a-z][\w-]*)[^`\n]*`", text)
    return (set(named) - options) | (set(re.findall(r"`make ([a-z-]+)", text)) - targets)


@pytest.mark.parametrize("path", [ROOT / "README.md", *ROOT.glob("docs/*.md")], ids=lambda path: path.stem)
def test_options_and_targets_exist(path: Path) -> None:
    assert unknown(path.read_text()) == set()


def test_options_that_are_gone_are_found() -> None:
    assert unknown("`--startup 5us`, `--alpha 5us`, `make demo`, `make demos`") == {"--startup", "demos"}


def test_variables_exist() -> None:
    known = {variable.name for variable in _core.Variable.all()}
    pattern = re.compile(r"\bHOCKET_[A-Z][A-Z_]*[A-Z]\b(?!\()")
    wrong = {}
    for path in DOCUMENTS:
        named = set(pattern.findall(path.read_text())) - known
        named = {name for name in named - NO_VARIABLES if not re.match(r"HOCKET_(ERR|TEST)", name)}
        if named:
            wrong[str(path.relative_to(ROOT))] = sorted(named)
    assert not wrong
