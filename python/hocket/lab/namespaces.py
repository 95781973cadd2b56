"""Linux namespaces by system call: make, enter, find processes in, remove.

Namespaces belong to threads, so a namespace is made (or entered) by a short-lived thread that ends afterwards; the rest
of the process stays where it was. No tool such as ``ip`` or ``unshare`` is needed."""

import ctypes
import os
import signal
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from hocket.errors import MissingToolError

T = TypeVar("T")

NETNS_DIR = Path("/run/netns")  # where `ip netns` looks: its users see the lab too
CLONE_NEWNET = 0x40000000
CLONE_NEWUTS = 0x04000000
MS_BIND, MS_REC, MS_SHARED = 0x1000, 0x4000, 1 << 20
MNT_DETACH = 2

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int, what: str) -> None:
    if result != 0:
        error = ctypes.get_errno()
        raise MissingToolError(
            f"{what}: {os.strerror(error)}",
            remedy="the lab needs CAP_SYS_ADMIN and CAP_NET_ADMIN; in a container, run it privileged",
        )


def require_root() -> None:
    """Raise :class:`MissingToolError` unless this process may make namespaces."""
    if not hasattr(_libc, "setns"):
        raise MissingToolError("the lab needs Linux", remedy="run it on a Linux machine")
    if os.geteuid() != 0:
        raise MissingToolError(
            "the lab builds network namespaces and needs root",
            remedy="run the command as root, for example with sudo",
        )


def in_thread(work: Callable[[], T]) -> T:
    """Run ``work`` in a thread of its own and return its result or raise its exception."""
    # It is waited for after Ctrl-C, too: what it makes must be there before it is removed.
    with ThreadPoolExecutor(1, "hocket-lab") as pool:
        return pool.submit(work).result()


def mount(source: str, target: Path, flags: int) -> None:
    """mount(2)."""
    code = _libc.mount(source.encode(), os.fsencode(target), b"none", ctypes.c_ulong(flags), None)
    _check(code, f"cannot mount {target}")


def unmount(target: Path) -> None:
    """Lazily unmount ``target``; silent when it is no mount."""
    _libc.umount2(os.fsencode(target), MNT_DETACH)


def prepare_netns_dir() -> None:
    """Make ``/run/netns`` a shared mount, as ``ip netns add`` does."""
    NETNS_DIR.mkdir(mode=0o755, parents=True, exist_ok=True)
    if _libc.mount(b"", os.fsencode(NETNS_DIR), b"none", ctypes.c_ulong(MS_SHARED | MS_REC), None) != 0:
        mount(str(NETNS_DIR), NETNS_DIR, MS_BIND | MS_REC)
        mount("", NETNS_DIR, MS_SHARED | MS_REC)


def create(net: Path, uts: Path | None, hostname: str, configure: Callable[[], None]) -> None:
    """Make a network namespace bound to ``net`` (and a UTS one bound to ``uts``, named ``hostname``).

    ``configure`` runs inside the new namespaces."""

    def work() -> None:
        flags = CLONE_NEWNET | (CLONE_NEWUTS if uts else 0)
        _check(_libc.unshare(flags), "cannot make a namespace")
        for kind, path in (("net", net), ("uts", uts)):
            if path is not None:
                path.touch(mode=0o444)
                mount(f"/proc/thread-self/ns/{kind}", path, MS_BIND)
        if uts is not None:
            name = hostname.encode()
            _check(_libc.sethostname(name, len(name)), f"cannot set the host name {hostname}")
        configure()

    in_thread(work)


def inside(net: Path, work: Callable[[], T]) -> T:
    """Run ``work`` in a thread that has entered the network namespace ``net``."""

    def entered() -> T:
        fd = os.open(net, os.O_RDONLY | os.O_CLOEXEC)
        try:
            _check(_libc.setns(fd, CLONE_NEWNET), f"cannot enter {net}")
        finally:
            os.close(fd)
        return work()

    return in_thread(entered)


def remove(path: Path) -> None:
    """Unbind and delete a namespace file; silent when it is gone already."""
    unmount(path)
    with suppress(OSError):
        path.unlink()


def processes(nets: Iterable[Path], variable: str) -> list[int]:
    """Process ids that live in one of the network namespaces ``nets`` or were started on their way there.

    The latter have ``variable`` (``NAME=value``) in their environment."""

    def identity(path: Path) -> tuple[int, int] | None:
        with suppress(OSError):  # it may vanish at any time
            status = path.stat()
            return status.st_dev, status.st_ino
        return None

    def marked(process: Path) -> bool:
        with suppress(OSError):
            return variable.encode() in (process / "environ").read_bytes().split(b"\0")
        return False

    wanted = {identity(path) for path in nets} - {None}
    return [
        int(entry.name)
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit() and (identity(entry / "ns" / "net") in wanted or marked(entry))
    ]


def kill_processes(nets: Iterable[Path], variable: str, seconds: float = 5.0) -> None:
    """SIGKILL all :func:`processes` but this one and wait until they are gone, at most ``seconds``."""
    nets = list(nets)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not (pids := [pid for pid in processes(nets, variable) if pid != os.getpid()]):
            return
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)
