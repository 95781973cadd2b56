"""Long work with a progress bar, what a command tells, and files that are written whole or not at all."""

import functools
import json
import os
import queue
import re
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from hocket import _core
from hocket._core import Progress
from hocket.cli._shared.commands import name_of, option
from hocket.errors import HocketError, UsageError
from hocket.system.files import as_error, beside, opened, read_file, real_path
from hocket.system.signals import as_exceptions, held_back
from hocket.system.text import console, printable

T = TypeVar("T")

PATIENCE: Final = 2.0  # seconds of silence before a bar appears
GOODBYE: Final = 5.0  # seconds that work has to end in when it was stopped


json_option = option("--json", "Print one JSON object.", expose_value=False,
                     callback=lambda context, _, value: context.meta.update({__name__: value}))  # fmt: skip


def wants_json() -> bool:
    """True if the command was called with ``--json``."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(__name__))


def tell(report: Mapping[str, Any], lines: Callable[[], Iterable[str]], indent: int | None = None) -> None:
    """Prints the result of a command: as JSON where that is wanted, else the lines for people."""
    if wants_json():
        click.echo(json.dumps(report, indent=indent))
        return
    for line in lines():
        click.echo(line)


@functools.cache
def _worker() -> queue.SimpleQueue[Callable[[], None]]:
    """The thread that does a command's long work, one after the other, while the first one heeds signals."""
    tasks: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()

    def serve() -> None:
        while True:
            tasks.get()()

    threading.Thread(target=serve, daemon=True).start()
    return tasks


def with_spinner(text: str, work: Callable[[], T]) -> T:
    """The result of ``work``, which another thread does. After two seconds a terminal shows how far it has come
    and the time left, where the core knows. Ctrl-C and SIGTERM end the work before they are answered."""
    progress = _core.Progress()
    # Not Thread.join(): after a signal Python 3.11 takes the thread for ended.
    done = threading.Event()
    outcome: list[T] = []
    problem: list[BaseException] = []

    def run() -> None:
        progress.attach()
        try:
            outcome.append(work())
        except BaseException as error:
            problem.append(error)
        finally:
            _core.Progress.detach()
            done.set()

    try:
        with as_exceptions():
            _worker().put(run)
            if not done.wait(PATIENCE) and not wants_json() and sys.stderr.isatty():
                _show(text, done, progress)
            while not done.wait(0.2):
                pass
    except BaseException:
        progress.cancel()
        with held_back():
            done.wait(GOODBYE)
        raise
    if problem:
        raise problem[0]
    return outcome[0]


@contextmanager
def progress_of() -> Iterator[Callable[[int, int, str], None]]:
    """A bar that hears how much is done, of how much, and what comes next; on a terminal, after a while."""
    if wants_json() or not sys.stderr.isatty():
        yield lambda at, of, what: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description:<32}", markup=False),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    bar = Progress(*columns, console=console(), transient=True)
    task = bar.add_task("starting", total=None)
    appear = threading.Timer(PATIENCE, bar.start)
    appear.start()
    try:
        yield lambda at, of, what: bar.update(
            task, completed=at, total=of or None, description=printable(what)
        )
    finally:
        appear.cancel()
        appear.join()
        bar.stop()


def _show(text: str, done: threading.Event, progress: Progress) -> None:
    """A bar per step of the work with the time left, and the time gone."""
    from rich import progress as bars

    text = printable(text)
    columns = (
        *(bars.SpinnerColumn(), bars.TextColumn("{task.description}", markup=False), bars.BarColumn()),
        *(bars.TaskProgressColumn(), bars.TimeRemainingColumn(), bars.TimeElapsedColumn()),
    )
    with bars.Progress(*columns, console=console(), transient=True) as display:
        shown, task = None, display.add_task(text, total=None)
        while not done.wait(0.2):
            if (step := progress.step) != shown:
                display.remove_task(task)
                task = display.add_task(f"{text}: {step}" if step else text, total=1.0 if step else None)
                shown = step
            if step:
                display.update(task, completed=progress.fraction)


def _unless_stopped(chunks: Iterable[bytes | str]) -> Iterator[bytes]:
    """The chunks; raises ``_core.Cancelled`` between them when :func:`with_spinner` ends the work.

    Texts are written in UTF-8; names of files in them need not be."""
    for chunk in chunks:
        _core.Progress.check()
        yield chunk if isinstance(chunk, bytes) else chunk.encode(errors="backslashreplace")


def write_atomically(path: str, chunks: Iterable[bytes | str]) -> None:
    """Writes beside the target and renames, so that no reader ever sees half a file."""
    try:
        with opened(Path(path)) as file:
            file.writelines(_unless_stopped(chunks))
    except BrokenPipeError:
        raise
    except OSError as error:
        raise HocketError(f"cannot write {path}: {error.strerror or error}",
                          remedy="choose another place or make room") from error  # fmt: skip


def write_files(files: dict[str, str]) -> None:
    """Writes several; the first one, which names the others, comes last: it never names what is not there yet."""
    for path in reversed(files):
        write_atomically(path, [files[path]])


def need_toml(output: str | None) -> None:
    """Raises UsageError for another ending."""
    if output is not None and not output.endswith(".toml"):
        raise UsageError(f"-o {output} is not a TOML file", remedy="name it FILE.toml")


def check_writable(path: str | None, in_place: bool = False) -> None:
    """Says so before the long work, not after it, when nothing can be written there.

    ``in_place``: it may be what the command reads."""
    if path is None:
        return
    if path == "-":
        raise HocketError("cannot write -: standard output has what the command prints", remedy="name a file")
    target, remedy = Path(path), "create it or choose another place"
    folder = target.absolute().parent
    try:
        if path.endswith(os.sep) and not target.is_dir():
            raise HocketError(
                f"cannot write {path}: there is no directory {target}", remedy="name a file in it"
            )
        if not folder.is_dir():
            raise HocketError(f"cannot write {path}: there is no directory {target.parent}", remedy=remedy)
        if target.exists() and not target.is_file():
            if target.is_dir():
                raise HocketError(f"cannot write {path}: it is a directory", remedy="name a file in it")
            return  # a pipe or a device: opening it may be felt
        if not in_place:
            _check_alone(target)
        # Tried, as rights are not all that can be missing: file systems are mounted for reading, or full.
        with tempfile.NamedTemporaryFile(prefix=beside(target), dir=real_path(target).parent):
            pass
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise HocketError(f"cannot write {path}: {why}", remedy="choose another place") from error


def _check_alone(target: Path) -> None:
    """Raises HocketError where the command that runs has the same file as another output, or as an input."""
    if (context := click.get_current_context(silent=True)) is None:
        return
    place = os.path.realpath(target)
    named = []
    for parameter in context.command.params:
        value = context.params.get(parameter.name or "")
        for each in value if isinstance(value, tuple) else (value,):
            file = each[-1] if isinstance(each, tuple) else each  # of --plot: kind and file
            if isinstance(file, (str, Path)) and os.path.realpath(file) == place:
                named.append(name_of(parameter))
    if len(named) > 1:
        raise HocketError(f"{' and '.join(named)} name the same file {target}", remedy="name another file")


def read_whole(path: str, what: str) -> bytes:
    """The bytes of a file, or one clear message."""
    with as_error(f"cannot read the {what} {path}", "check its name and permissions"):
        return read_file(path)


def as_columns(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Plain columns, numbers to the right; the same on a terminal and in a pipe."""
    cells = [[str(cell) for cell in row] for row in rows]
    padded = []
    for title, *column in zip(header, *cells, strict=True):
        width = max(map(len, (title, *column)))
        numbers = all(re.fullmatch(r"-?[\d.,]*", cell) for cell in column)
        padded.append([cell.rjust(width) if numbers else cell.ljust(width) for cell in (title, *column)])
    return "\n".join("  ".join(line).rstrip() for line in zip(*padded, strict=True))
