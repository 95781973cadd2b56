"""Files read whole, with limits applied; and files and folders that Hocket makes: whole or not at all, and for their
owner alone to change, whatever the umask.

Under a umask of 002, the default of many distributions, a plain ``open`` or ``mkdir`` lets a group write."""

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from hocket.errors import HocketError, Where
from hocket.system.text import where_is

FILE_MODE: Final = 0o644
FOLDER_MODE: Final = 0o755
OF_OTHERS: Final = stat.S_IWGRP | stat.S_IWOTH
_MOST_OF_NAME: Final = 32  # characters


def real_path(path: str | os.PathLike[str]) -> Path:
    """The path without links, as far as it exists. Raises OSError for links that lead to themselves, also where
    Path.resolve() raises RuntimeError (before Python 3.13) or nothing."""
    found = Path(os.path.realpath(path))
    if found.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), os.fspath(path))
    return found


@contextmanager
def as_error(
    what: str, remedy: str, kind: type[HocketError] = HocketError, where: Where | None = None
) -> Iterator[None]:
    """An OSError within is raised as an error of this kind: ``what`` failed, and why by the system's word."""
    try:
        yield
    except OSError as error:
        raise kind(f"{what}: {error.strerror or error}", where=where, remedy=remedy) from None


def open_file(path: str | os.PathLike[str], again: bool = False) -> BinaryIO:
    """A file to read. Raises OSError, also for a device, which may have no end.

    ``again``: others will read it by its name afterwards, so that a pipe is none, either."""
    mode = Path(path).stat().st_mode  # before opening, which waits for a pipe's other end
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise OSError(errno.EINVAL, "Is a device", os.fspath(path))
    if again and stat.S_ISFIFO(mode):
        raise OSError(errno.EINVAL, "Is a pipe, which can be read but once", os.fspath(path))
    return Path(path).open("rb")


def read_file(path: str | os.PathLike[str], again: bool = False) -> bytes:
    """Read the whole file; see :func:`open_file`."""
    with open_file(path, again) as file:
        return file.read()


def read_limited(path: str, limit: int, what: str, error: type[HocketError]) -> bytes:
    """The bytes of a file of at most ``limit`` bytes. ``what`` it is meant to be is part of the remedies."""
    with opened_to_read(path, what, error) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise error(f"is larger than {limit // 2**20} MiB", where=where_is(path), remedy=f"is this {what}?")
    return data


@contextmanager
def opened_to_read(path: str, what: str, error: type[HocketError], again: bool = False) -> Iterator[BinaryIO]:
    """A file of :func:`open_file`; what goes wrong with it within is an error of this kind."""
    where = where_is(path)
    try:
        with open_file(path, again) as file:
            yield file
    except FileNotFoundError:
        raise error("no such file", where=where, remedy=f"name {what}") from None
    except IsADirectoryError:
        raise error("is a directory", where=where, remedy=f"name {what}") from None
    except OSError as problem:
        raise error(
            f"cannot be read: {problem.strerror or problem}", where=where, remedy="check path and permissions"
        ) from None
    except ValueError:  # a NUL byte or a lone surrogate in the path
        raise error("is not a file name", where=where, remedy=f"name {what}") from None


def decode(data: bytes, where: Where, error: type[HocketError]) -> str:
    """UTF-8 without NUL bytes; a byte order mark is dropped, and lines end with a line feed alone."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise error(
            f"is not UTF-8: byte 0x{data[problem.start]:02x} at offset {problem.start}",
            where=Where(where.file, data.count(b"\n", 0, problem.start) + 1),
            remedy="save the file as UTF-8",
        ) from None
    if (nul := data.find(b"\0")) >= 0:
        raise error(
            f"holds a NUL byte at offset {nul}",
            where=Where(where.file, data.count(b"\n", 0, nul) + 1),
            remedy="is this a text file? remove the byte",
        )
    return text.replace("\r\n", "\n")


def make_folders(path: Path, mode: int = FOLDER_MODE) -> None:
    """A directory, with those above it that are missing. Raises OSError."""
    missing = [folder for folder in path.parents if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=FOLDER_MODE, exist_ok=True)
    path.mkdir(mode=mode, exist_ok=True)


def open_new(path: str, flags: int) -> int:
    """An ``opener`` for :func:`open`."""
    return os.open(path, flags, FILE_MODE)


def write_new(path: Path, text: str) -> None:
    """Raises OSError."""
    with open(path, "w", encoding="utf-8", opener=open_new) as file:
        file.write(text)


def close_to_others(folder: Path) -> None:
    """Takes the right to write from all but the owner, of a folder and all in it."""
    for place, _, files in os.walk(folder):
        for path in (Path(place), *(Path(place) / file for file in files)):
            if not path.is_symlink() and (mode := path.stat().st_mode) & OF_OTHERS:
                path.chmod(stat.S_IMODE(mode) & ~OF_OTHERS)


def beside(target: Path) -> str:
    """Beginning of the name of a temporary file that replaces ``target``, whose own name may be as long as possible."""
    return f".{target.name[:_MOST_OF_NAME]}."


@contextmanager
def replaced(target: Path) -> Iterator[Path]:
    """A new file beside ``target`` that takes its place when the block ends well, and goes otherwise.

    It gets the mode of the file whose place it takes."""
    target = real_path(target)  # a link stays a link
    temporary = target.with_name(beside(target) + secrets.token_hex(4))
    os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, FILE_MODE))
    try:
        yield temporary
        if target.exists():
            temporary.chmod(stat.S_IMODE(target.stat().st_mode))
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def opened(target: Path) -> Iterator[BinaryIO]:
    """A file to write to, as of :func:`replaced`; or the pipe or device (``/dev/stdout``) that is there."""
    if target.exists() and not target.is_file():
        with target.open("wb") as file:
            yield file
        return
    with replaced(target) as temporary, temporary.open("wb") as file:
        yield file
