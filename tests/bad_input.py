"""Command lines that seeded chance has spoilt, for every command there is, and what each must answer.

A case begins as a valid command line over files of a folder; up to three things are spoilt: a value, an option, a file.
Whatever it is, the answer is done or refused, in one line with a remedy, nothing half written, nothing that a terminal
would obey.
"""

from __future__ import annotations

import io
import os
import random
import re
import shlex
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from unittest.mock import patch

import click

import plan_file
from bad_values import NETWORKS_TRIED, NUMBERS, PLAUSIBLE, QUANTITIES, SHORT_FORMS, TEXTS, VALID, Files
from hocket.cli import cli, main
from hocket.cli.sort import main as sort_main
from hocket.cli.sort import sort
from hocket.errors import MissingToolError
from mutations import altered

HANG: Final = 120  # seconds for one command line, on a machine that does much else
LONGEST: Final = 2000  # characters of a message
SORT: Final = "hocket-sort"  # a program of its own
NOT_TRIED: Final = {"lab down": "would take down the labs of others"}


def commands(command: click.Command = cli, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """Every command that is no group, by the words that call it, and the program of sorting."""
    if command is cli:
        yield SORT, sort
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from commands(found, (*path, name))
    else:
        yield " ".join(path), command


@dataclass(slots=True)
class Case:
    """A command line, and the files whose content it spoils."""

    command: str
    arguments: list[str]
    spoilt: dict[str, bytes] = field(default_factory=dict)

    def __str__(self) -> str:
        files = "".join(f"\n    {name}: {data[:300]!r}" for name, data in self.spoilt.items())
        begin = "" if self.command == SORT else "hocket "
        return f"{begin}{' '.join(shlex.quote(word[:300]) for word in self.arguments)}{files}"


def spoilt(files: Files, command: str, parameters: list[click.Parameter], choose: random.Random) -> Case:
    """The valid command line with one to three things wrong."""
    known = {**files.good, "new": str(files.folder / "new")}
    if choose.random() < 0.5:
        known["net"] = choose.choice(NETWORKS_TRIED)
    case = Case(command, [word.format_map(known) for word in shlex.split(VALID[command])])
    options = [each for each in parameters if isinstance(each, click.Option)]
    for _ in range(choose.choice((1, 1, 1, 2, 3))):
        way = choose.random()
        words = case.arguments
        if way < 0.1 and words:  # a word for another
            words[choose.randrange(len(words))] = _any_value(files, choose)
        elif way < 0.15 and (
            places := [at for at, word in enumerate(words) if "/" in word]
        ):  # a file for another
            words[choose.choice(places)] = choose.choice(files.odd)
        elif way < 0.6 and options:  # an option with a value of its kind, or of any
            option = choose.choice(options)
            name = choose.choice([*option.opts, *option.secondary_opts])
            value = [] if option.is_flag else [_value(option, files, choose) for _ in range(option.nargs)]
            at = choose.randrange(len(words) + 1) if choose.random() < 0.1 else 0
            words[at:at] = [name, *value] if choose.random() < 0.9 else [f"{name}={''.join(value)}"]
        elif way < 0.85 and (named := [name for name, path in files.good.items() if path in words]):
            name = choose.choice(named)
            data = Path(files.good[name]).read_bytes()
            case.spoilt[files.good[name]] = (
                _spoilt_plan(data, choose) if name == "plan" else altered(data, choose)
            )
        elif way < 0.9 and words:  # a word too few, or twice
            at = choose.randrange(len(words))
            words[at : at + 1] = choose.choice(([], [words[at]] * 2))
        elif way < 0.95:
            words.insert(choose.randrange(len(words) + 1), _any_value(files, choose))
        else:  # written wrong
            words.append(
                choose.choice(("--nonsense", "-Z", "--byte", "--netwrk=x", "--json=yes", "-o", "-h"))
            )
    case.arguments[:0] = command.split()
    return case


# Script in place of launchers and compilers: nothing is started or built.
_LAUNCHER: Final = "#!/bin/sh\necho HYDRA build details: Version: 4.2\nexit 3\n"


@contextmanager
def harmless(folder: Path) -> Iterator[None]:
    """An environment in which commands start no ranks, build no labs or runtimes, and do not touch the user's cache."""
    tools = folder / "tools"
    tools.mkdir()
    for name, text in (("mpiexec", _LAUNCHER), ("mpirun", _LAUNCHER), ("mpicc", "#!/bin/sh\nexit 3\n")):
        (tools / name).write_text(text)
        (tools / name).chmod(0o755)

    def refuse(*_: object, **__: object) -> None:
        raise MissingToolError("no lab is built here", remedy="this is a test")

    variables = {"XDG_CACHE_HOME": str(folder / "cache"), "PATH": f"{tools}:/usr/bin:/bin"}
    where = Path.cwd()
    with patch.dict(os.environ, variables), patch("hocket.lab.Lab.up", refuse):
        try:
            yield
        finally:
            os.chdir(where)


def _spoilt_plan(data: bytes, choose: random.Random) -> bytes:
    """Cut or altered; or altered where checksums are right again, which a plan that is meant to do harm has."""
    if choose.random() < 0.4:
        return altered(data, choose)
    sections = plan_file.split(data)
    at = choose.randrange(plan_file.SECTIONS)
    sections[at] = altered(sections[at], choose)
    return plan_file.join(sections)


def _value(option: click.Option, files: Files, choose: random.Random) -> str:
    kind, meaning = option.type, option.metavar or ""
    if choose.random() < 0.1:
        return _any_value(files, choose)
    if choose.random() < 0.4:
        if isinstance(kind, click.Choice):
            return str(choose.choice(list(kind.choices)))
        if isinstance(kind, (click.IntRange, click.FloatRange)):
            return choose.choice(("0", "1", "2", "3", "4", "7", "1024"))
        if meaning in PLAUSIBLE:
            return choose.choice(PLAUSIBLE[meaning])
    if isinstance(kind, (click.IntRange, click.FloatRange)):
        return choose.choice(NUMBERS)
    if isinstance(kind, click.Choice):
        choices = list(map(str, kind.choices))
        return choose.choice((*choices, choices[0].upper(), choices[0] + " ", choices[0][:2], "", *TEXTS))
    if meaning in ("SIZE", "TIME", "RATE", "K[,K…]", "SIZES"):
        return choose.choice(QUANTITIES)
    if "FILE" in meaning or "PLAN" in meaning or isinstance(kind, click.Path):
        return choose.choice(files.odd)
    if "NETWORK" in meaning or option.name == "network":
        return choose.choice((*SHORT_FORMS, *files.odd))
    return choose.choice((*TEXTS, *QUANTITIES))


def _any_value(files: Files, choose: random.Random) -> str:
    return choose.choice(choose.choice((NUMBERS, QUANTITIES, TEXTS, SHORT_FORMS, files.odd)))


class Hang(BaseException):
    """A command has taken longer than HANG."""


@dataclass(slots=True)
class Answer:
    code: int
    out: bytes
    err: bytes


def answer(arguments: list[str], folder: Path) -> Answer:
    """Run ``hocket ARGUMENTS`` in this process, with streams of its own."""
    places = [folder / "out", folder / "err"]
    with _streams(places):
        signal.setitimer(signal.ITIMER_REAL, HANG)
        try:
            code = sort_main(arguments[1:]) if arguments[0] == SORT else main(arguments)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            sys.stdout.flush()
            sys.stderr.flush()
    return Answer(code, *(place.read_bytes() for place in places))


@contextmanager
def _streams(places: list[Path]) -> Iterator[None]:
    """Standard streams that lead to files, as a shell would make them; nothing to read."""
    kept = [os.dup(number) for number in range(3)]
    objects = {name: getattr(sys, name) for name in ("stdin", "stdout", "stderr", "__stdout__", "__stderr__")}
    opened = [os.open(os.devnull, os.O_RDONLY)]
    opened += [os.open(place, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600) for place in places]
    try:
        for number, descriptor in enumerate(opened):
            os.dup2(descriptor, number)
            os.close(descriptor)
        sys.stdin = io.TextIOWrapper(io.FileIO(0, closefd=False))
        for name, number in (("stdout", 1), ("stderr", 2)):
            stream = io.TextIOWrapper(
                io.BufferedWriter(io.FileIO(number, "w", closefd=False)), encoding="utf-8"
            )
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)
        yield
    finally:
        for name, value in objects.items():
            setattr(sys, name, value)
        for number, descriptor in enumerate(kept):
            os.dup2(descriptor, number)
            os.close(descriptor)


_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028\u2029]")
_REMEDY: Final = re.compile(r"; \S|see '|did you mean")


def complaint(
    case: Case, found: Answer, before: dict[str, bytes | None], after: dict[str, bytes | None]
) -> str:
    """Problem of an answer; empty if the answer is as it should be."""
    try:
        out, err = found.out.decode(), found.err.decode()
    except UnicodeDecodeError:
        return "prints what is no UTF-8"
    if "Traceback" in out + err or "a fault of Hocket" in err:
        return "an exception that nobody has foreseen"
    if found.code not in (0, 1, 2, 3):  # 3: of the program that is started
        return f"exit code {found.code}"
    if _CONTROL.search(err) or _CONTROL.search(out):
        return "prints control characters"
    new = after.keys() - before.keys() - {*case.arguments}
    if left := [name for name in new if name.startswith((".", "build-", "report-"))]:
        return f"leaves {left[0]}"
    if found.code != 2:
        return ""
    changed = sorted({name for name, _ in before.items() ^ after.items()})
    if "cannot write " in err:  # of two outputs the one that was written is whole
        changed = [name for name in changed if not any(word.endswith(f"/{name}") for word in case.arguments)]
    if changed:
        return f"is refused, but has changed {changed[0]}"
    if out:
        return "is refused, but prints something"
    *notes, last = err.rstrip("\n").split("\n")
    if not last.startswith("hocket: ") or len(notes) > 3:
        return "is not one line"
    if len(last) > LONGEST:
        return f"has a message of {len(last)} characters"
    return "" if _REMEDY.search(last) else "names no remedy"


@dataclass(slots=True)
class Outcome:
    """Answer to a case, and its problem."""

    case: Case
    code: int
    message: str
    wrong: str


def outcomes(
    folder: Path, seed: str, count: int, each: Callable[[Outcome], None] | None = None
) -> list[Outcome]:
    """``count`` cases, the commands in turn. To be called within :func:`harmless`."""

    def stop(*_: object) -> None:
        raise Hang

    before_alarm = signal.signal(signal.SIGALRM, stop)
    choose = random.Random(seed)
    known = [(name, command) for name, command in commands() if name not in NOT_TRIED]
    place = folder / "files"
    found = []
    try:
        for number in range(count):
            if number % 50 == 0:  # what earlier cases have written
                shutil.rmtree(place, ignore_errors=True)
                place.mkdir()
                files = Files(place)
                os.chdir(place)
            name, command = known[number % len(known)]
            case = spoilt(files, name, command.params, choose)
            for path, data in case.spoilt.items():
                Path(path).write_bytes(data)
            before = files.content()
            try:
                got = answer(case.arguments, folder)
                wrong = complaint(case, got, before, files.content())
            except Hang:
                got, wrong = Answer(-1, b"", b""), f"takes longer than {HANG} s"
            files.restore()
            outcome = Outcome(
                case, got.code, got.err.decode(errors="replace").rstrip("\n").split("\n")[-1], wrong
            )
            found.append(outcome)
            if each is not None:
                each(outcome)
    finally:
        signal.signal(signal.SIGALRM, before_alarm)
    return found
