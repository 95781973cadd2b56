"""Files and folders that Hocket makes: whole or not at all, and for their owner alone to change, whatever the umask.

Under a umask of 002, the default of many distributions, a plain ``open`` or ``mkdir`` lets a group write.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from hocket.text import real_path

FILE_MODE: Final = 0o644
FOLDER_MODE: Final = 0o755
OF_OTHERS: Final = stat.S_IWGRP | stat.S_IWOTH
_MOST_OF_NAME: Final = 32  # characters


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
    """How the name of a file begins that takes the place of ``target``, whose own may be as long as names can be."""
    return f".{target.name[:_MOST_OF_NAME]}."


@contextmanager
def replaced(target: Path) -> Iterator[Path]:
    """A new file beside ``target`` that takes its place when the block ends well, and goes otherwise.

    It gets the mode of the file whose place it takes.
    """
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
