"""The user's cache: what was built or planned once, kept under a name that tells what it was made of.

What lies there is loaded as code into the user's programs, so nobody else may be able to change it."""

import contextlib
import errno
import fcntl
import functools
import grp
import hashlib
import json
import os
import pwd
import shutil
import stat
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

from hocket.errors import HocketError
from hocket.system.files import as_error, close_to_others, make_folders, open_new, real_path
from hocket.system.signals import as_exceptions

OWN_PLACE: Final = "set XDG_CACHE_HOME to a directory of your own"


def check_above(path: Path) -> None:
    """Raises HocketError if others can put something else in the place of ``path``: if a directory above it is
    theirs, or if they can write to it. Sticky ones, such as /tmp, do not let them."""
    for folder in path.parents:
        status = folder.stat()
        if status.st_uid not in _trusted() or (
            not status.st_mode & stat.S_ISVTX and _others_can_write(status)
        ):
            raise HocketError(
                f"other users can replace the cache {path}: {folder} is theirs, or they can write to it",
                remedy=f"run chmod go-w on {folder} if it is yours, or {OWN_PLACE}",
            )


def check_private(path: Path) -> None:
    """Raises HocketError if this is neither the user's nor root's, or if others can write to it."""
    with as_error(f"cannot use {path}", "check its permissions"):
        status = path.lstat()
    if stat.S_ISLNK(status.st_mode) or status.st_uid not in _trusted():
        what, remedy = "is a link or belongs to another user", f"remove it, or {OWN_PLACE}"
    elif _others_can_write(status):
        what, remedy = "can be written by other users", f"remove it, or run chmod go-w on it, or {OWN_PLACE}"
    else:
        return
    raise HocketError(f"{path} {what}, and is no place for code that will be loaded", remedy=remedy)


def check_installed(path: Path) -> None:
    """Raises HocketError if this part of the installation belongs to another user, or if everybody can write to it.

    Root, the user and whoever owns the Python installation are trusted: their code runs already."""
    status = path.stat()
    if status.st_uid not in _trusted() | {Path(sys.prefix).stat().st_uid}:
        what, remedy = "belongs to another user", "install Hocket anew"
    elif status.st_mode & stat.S_IWOTH:
        what = "can be written by every user"
        remedy = f"run chmod -R o-w {path}, or install Hocket anew under umask 022"
    else:
        return
    raise HocketError(f"{path} {what}, and is no place for code that will be loaded", remedy=remedy)


def _trusted() -> set[int]:
    """User ids whose files may be loaded: the user's and root's. In a container root's files may belong to
    another id."""
    return {0, os.getuid(), Path("/").stat().st_uid}


def _others_can_write(status: os.stat_result) -> bool:
    if status.st_mode & stat.S_IWOTH:
        return True
    return bool(status.st_mode & stat.S_IWGRP) and not _is_private(status.st_gid, frozenset(_trusted()))


@functools.cache
def _is_private(gid: int, trusted: frozenset[int]) -> bool:
    """Return true if a group is a user's own. Most distributions give every user one, and ~/.cache may have
    been made under it with a umask of 002. Such a group has the name of a trusted user and no other known
    member. Where users cannot be listed (some directory services), the name alone decides."""
    try:
        group = grp.getgrgid(gid)
    except KeyError:
        return False
    names = {name for uid in trusted if (name := _name(uid)) is not None}
    if group.gr_name not in names or not names.issuperset(group.gr_mem):
        return False
    return all(user.pw_uid in trusted for user in pwd.getpwall() if user.pw_gid == gid)


def _name(uid: int) -> str | None:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return None


_WORK = "build-"  # unfinished things begin with this
_REPORT = "report-"  # what the ranks of a job report
_IN_USE = "in-use"  # locked in such a thing as long as its builder lives
_DEAD_SECONDS = 24 * 3600  # no build takes as long: where there are no locks, what is older is dead
_LOCK_SECONDS = 900  # how long one waits for another that builds the same; then both do
_WHOLE = "whole.json"  # size and checksum of each file that was built
_OWN_FOLDER, _SHARED_FOLDER = 0o700, 0o755


def choices_dir() -> Path:
    """Folder in which ranks keep timings of calls: files that others may not write."""
    return cache_dir() / "choices"


def cache_dir() -> Path:
    """The cache, made if missing; refused if others can write to it, or to a directory above it.

    Others can read root's, which they may use; nobody else's is of use to them."""
    try:
        base = Path(os.environ.get("XDG_CACHE_HOME") or _home() / ".cache").absolute() / "hocket"
    except (RuntimeError, KeyError):
        raise HocketError("there is no home directory to keep built code in", remedy=OWN_PLACE) from None
    with as_error(f"cannot use the cache directory {base}", OWN_PLACE):
        make_folders(base, _folder_mode())
        os.scandir(base).close()  # root may have made it for itself
        base = real_path(base)  # what is checked is what is used, whoever may change a link
    check_private(base)
    check_above(base)
    return base


def _home() -> Path:
    """Home directory. With an empty HOME, Path.home() would be the root directory."""
    return Path(pwd.getpwuid(os.getuid()).pw_dir) if os.environ.get("HOME") == "" else Path.home()


def _folder_mode() -> int:
    return _OWN_FOLDER if os.getuid() else _SHARED_FOLDER


def keep(kind: str, data: bytes, suffix: str) -> Path:
    """The file in the cache that holds this, named by its content."""
    path = cache_dir() / f"{kind}-{hashlib.sha256(data).hexdigest()[:16]}{suffix}"
    with _said_if_not_written(path):
        if _holds(path, data):
            return path
        with workplace(path.parent) as work:
            made = work / path.name
            made.write_bytes(data)
            close_to_others(work)
            made.replace(path)
    return path


def _holds(path: Path, data: bytes) -> bool:
    """Return true if the file holds the data. False if others can change it: then it is written anew."""
    try:
        check_private(path)
    except HocketError:
        return False
    return path.read_bytes() == data


def build_once(name: str, files: Sequence[str], build: Callable[[Path, Path], None]) -> Path:
    """The directory ``name`` of the cache with these files; if there is none, ``build`` makes them.

    It gets the folder to make them in and one for what it needs for the moment. They are made elsewhere, and the whole
    directory gets its name at once: whoever finds it finds it whole. What is damaged later is built anew. Of several
    processes that want the same, one builds and the others wait for it. Raises HocketError if others can write to what
    is there."""
    home = cache_dir() / name
    if _whole(home, files):
        return home
    with as_exceptions(), _said_if_not_written(home), _one_at_a_time(home), workplace(home.parent) as work:
        if _whole(home, files):  # by the one that this process has waited for
            return home
        made = work / name
        made.mkdir(mode=_folder_mode())
        moment = work / "moment"
        moment.mkdir(mode=0o700)
        build(made, moment)
        marks = {file: _mark(made / file) for file in files}
        (made / _WHOLE).write_text(json.dumps(marks))
        close_to_others(made)
        # Where file systems have no locks another process may have made it meanwhile, and look at it now.
        if home.exists() and not _whole(home, files):
            with contextlib.suppress(OSError):
                home.rename(work / "replaced")
        try:
            made.rename(home)
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                raise
    if not _whole(home, files):
        raise HocketError(f"{home} is damaged", remedy="remove it and try again")
    return home


def _whole(home: Path, files: Sequence[str]) -> bool:
    """Return true if all files are as they were built. Takes some milliseconds, mostly for the checksum of 5 MB."""
    paths = [home, *(home / file for file in (*files, _WHOLE))]
    if not all(path.exists() for path in paths):
        return False
    for path in paths:
        check_private(path)
    try:
        marks = json.loads((home / _WHOLE).read_bytes())
    except ValueError:
        return False
    return isinstance(marks, dict) and all(_mark(home / file) == marks.get(file) for file in files)


def _mark(file: Path) -> list[int]:
    """Tells a file from what is left of it when a disk fills or fails: its size and CRC-32. No mark against malice:
    who can write here need not bother."""
    data = file.read_bytes()
    return [len(data), zlib.crc32(data)]


@contextlib.contextmanager
def report_folder() -> Iterator[Path]:
    """A directory of the cache for what the ranks of a job report, which goes at the end."""
    cache = cache_dir()
    with contextlib.ExitStack() as stack:
        with _said_if_not_written(cache):
            folder = stack.enter_context(workplace(cache, _REPORT)) / "ranks"
            folder.mkdir(mode=_OWN_FOLDER)
        yield folder


def clear_up(cache: Path) -> None:
    """Removes what killed processes have left unfinished."""
    for left in (*cache.glob(f"{_WORK}*"), *cache.glob(f"{_REPORT}*")):
        with contextlib.suppress(OSError), _taken(left) as dead:
            if dead:
                shutil.rmtree(left) if left.is_dir() and not left.is_symlink() else left.unlink()


@contextlib.contextmanager
def workplace(cache: Path, prefix: str = _WORK) -> Iterator[Path]:
    """A directory for the moment, which goes; so do those that killed processes have left. Raises OSError."""
    clear_up(cache)
    while True:
        with tempfile.TemporaryDirectory(prefix=prefix, dir=cache, ignore_cleanup_errors=True) as work:
            lock = Path(work) / _IN_USE
            with open(lock, "w", opener=open_new) as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    continue  # one that clears up has it
                except OSError:
                    pass  # no locks here
                if not lock.exists():
                    continue  # it has cleared up already
                yield Path(work)
                return


@contextlib.contextmanager
def _taken(left: Path) -> Iterator[bool]:
    """Yield true if the builder of this directory is dead, and keep others from removing it meanwhile."""
    old = time.time() - left.lstat().st_mtime > _DEAD_SECONDS
    with contextlib.ExitStack() as stack:
        try:
            file = stack.enter_context((left / _IN_USE).open("r+"))
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        except OSError:  # no lock, or not yet
            yield old
            return
        yield True


@contextlib.contextmanager
def _one_at_a_time(home: Path) -> Iterator[None]:
    """Waits for a process that does the same. Some file systems have no locks: then nobody waits."""
    lock = home.with_name(f"{home.name}.lock")
    with open(lock, "w", opener=open_new) as file:
        until = time.monotonic() + _LOCK_SECONDS
        told = False
        while time.monotonic() < until:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not told:
                    print("hocket: waiting for another process that builds the same", file=sys.stderr)
                told = True
                time.sleep(0.2)
            except OSError:
                break
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)  # who waits for it finds what has been built, or builds


@contextlib.contextmanager
def _said_if_not_written(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        space = "free some space there, or " if error.errno in (errno.ENOSPC, errno.EDQUOT) else ""
        raise HocketError(
            f"cannot write {error.filename or path}: {error.strerror}", remedy=f"{space}{OWN_PLACE}"
        ) from None
