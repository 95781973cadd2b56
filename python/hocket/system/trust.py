"""Trust in files that are loaded as code into the user's programs: only the user and root may change them."""

from __future__ import annotations

import functools
import grp
import os
import pwd
import stat
import sys
from pathlib import Path
from typing import Final

from hocket.errors import HocketError

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
    try:
        status = path.lstat()
    except OSError as error:
        raise HocketError(f"cannot use {path}: {error.strerror}", remedy="check its permissions") from None
    if stat.S_ISLNK(status.st_mode) or status.st_uid not in _trusted():
        what, remedy = "is a link or belongs to another user", f"remove it, or {OWN_PLACE}"
    elif _others_can_write(status):
        what, remedy = "can be written by other users", f"remove it, or run chmod go-w on it, or {OWN_PLACE}"
    else:
        return
    raise HocketError(f"{path} {what}, and is no place for code that will be loaded", remedy=remedy)


def check_installed(path: Path) -> None:
    """Raises HocketError if this part of the installation belongs to another user, or if everybody can write to it.

    Root, the user and whoever owns the Python installation are trusted: their code runs already.
    """
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
