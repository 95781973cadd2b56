"""The user's cache: what was built or planned once, kept under a name that tells what it was made of.

What lies there is loaded as code into the user's programs, so nobody else may be able to change it.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import os
import pwd
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from hocket.errors import HocketError
from hocket.signals import as_exceptions

_WORK = "build-"  # unfinished things begin with this
_IN_USE = "in-use"  # locked in such a thing as long as its builder lives
_DEAD_SECONDS = 24 * 3600  # no build takes as long: where there are no locks, what is older is dead
_LOCK_SECONDS = 900  # how long one waits for another that builds the same; then both do
_OWN_PLACE = "set XDG_CACHE_HOME to a directory of your own"


def choices_dir() -> Path:
    """Where ranks keep what they have learned about calls: files that others may not write."""
    return cache_dir() / "choices"


def cache_dir() -> Path:
    """The cache, made if missing; refused if others can write to it, or to a directory above it."""
    try:
        base = Path(os.environ.get("XDG_CACHE_HOME") or _home() / ".cache").absolute() / "hocket"
    except (RuntimeError, KeyError):
        raise HocketError("there is no home directory to keep built code in", remedy=_OWN_PLACE) from None
    try:
        base.mkdir(mode=0o700, parents=True, exist_ok=True)
        base = base.resolve()  # what is checked is what is used, whoever may change a link
    except OSError as error:
        raise HocketError(
            f"cannot use the cache directory {base}: {error.strerror}", remedy=_OWN_PLACE
        ) from None
    check_private(base)
    for folder in base.parents:
        status = folder.stat()
        shared = status.st_mode & 0o022 and not status.st_mode & stat.S_ISVTX
        if shared or status.st_uid not in _trusted():
            raise HocketError(
                f"other users can replace the cache {base}: {folder} is theirs, or they can write to it",
                remedy=_OWN_PLACE,
            )
    return base


def _home() -> Path:
    """Of an empty HOME Path.home() makes the root directory."""
    return Path(pwd.getpwuid(os.getuid()).pw_dir) if os.environ.get("HOME") == "" else Path.home()


def _trusted() -> set[int]:
    """Whose files may be loaded: the user's and root's. In a container nobody may own all that is root's."""
    return {0, os.getuid(), Path("/").stat().st_uid}


def check_installed(path: Path) -> None:
    """Raises HocketError if this part of the installation belongs to another user, or if everybody can write to it.

    Root, the user and whoever owns the Python installation are trusted: their code runs already.
    """
    status = path.stat()
    if status.st_uid not in _trusted() | {Path(sys.prefix).stat().st_uid}:
        what = "belongs to another user"
    elif status.st_mode & stat.S_IWOTH:
        what = "can be written by every user"
    else:
        return
    raise HocketError(
        f"{path} {what}, and is no place for code that will be loaded", remedy="install Hocket anew"
    )


def check_private(path: Path) -> None:
    """Raises HocketError if this is neither the user's nor root's, or if others can write to it."""
    try:
        status = path.lstat()
    except OSError as error:
        raise HocketError(f"cannot use {path}: {error.strerror}", remedy="check its permissions") from None
    if stat.S_ISLNK(status.st_mode) or status.st_uid not in _trusted():
        what, remedy = "is a link or belongs to another user", f"remove it, or {_OWN_PLACE}"
    elif status.st_mode & 0o022:
        what, remedy = "can be written by other users", f"remove it, or run chmod go-w on it, or {_OWN_PLACE}"
    else:
        return
    raise HocketError(f"{path} {what}, and is no place for code that will be loaded", remedy=remedy)


def keep(kind: str, data: bytes, suffix: str) -> Path:
    """The file in the cache that holds this, named by its content."""
    path = cache_dir() / f"{kind}-{hashlib.sha256(data).hexdigest()[:16]}{suffix}"
    if path.exists() and path.stat().st_size == len(data):
        check_private(path)
        return path
    with _said_if_full(path), _workplace(path.parent) as work:
        made = work / path.name
        made.write_bytes(data)
        made.replace(path)
    return path


def build_once(name: str, files: Sequence[str], build: Callable[[Path, Path], None]) -> Path:
    """The directory ``name`` of the cache with these files; if there is none, ``build`` makes them.

    It gets the folder to make them in and one for what it needs for the moment. They are made elsewhere,
    and the whole directory gets its name at once: whoever finds it finds it whole. Of several processes that
    want the same, one builds and the others wait for it. Raises HocketError if others can write to what is
    there.
    """
    home = cache_dir() / name
    if _whole(home, files):
        return home
    with as_exceptions(), _said_if_full(home), _one_at_a_time(home), _workplace(home.parent) as work:
        if _whole(home, files):  # by the one that this process has waited for
            return home
        made = work / name
        made.mkdir(mode=0o700)
        moment = work / "moment"
        moment.mkdir(mode=0o700)
        build(made, moment)
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
    if not all((home / file).exists() for file in files):
        return False
    for path in (home, *(home / file for file in files)):
        check_private(path)
    return True


@contextlib.contextmanager
def _workplace(cache: Path) -> Iterator[Path]:
    """A directory for unfinished things, which goes; so do those that killed processes have left."""
    for left in cache.glob(f"{_WORK}*"):
        with contextlib.suppress(OSError), _taken(left) as dead:
            if dead:
                shutil.rmtree(left) if left.is_dir() and not left.is_symlink() else left.unlink()
    while True:
        with tempfile.TemporaryDirectory(prefix=_WORK, dir=cache, ignore_cleanup_errors=True) as work:
            lock = Path(work) / _IN_USE
            with lock.open("w") as file:
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
    """Whether the builder of this is dead; no other clears it up meanwhile."""
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
    with lock.open("w") as file:
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
def _said_if_full(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise HocketError(
            f"cannot write {error.filename or path}: {error.strerror}",
            remedy=f"free some space there, or {_OWN_PLACE}",
        ) from None
