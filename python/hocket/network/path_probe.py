"""Routers on the way of a connection, by opening it with a small time to live.

A SYN of the very addresses and ports takes the way that the connection would; the router at which its time to live ends
says so by ICMP, which the kernel hands to the socket (``IP_RECVERR``). No rights are needed, and no connection is made.
Source: Augustin et al., "Avoiding traceroute anomalies with Paris traceroute", IMC 2006."""

import errno
import selectors
import socket
import struct
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from hocket.errors import MissingToolError
from hocket.system.files import as_error

_IP_RECVERR, _IPV6_RECVERR = 11, 25  # <linux/in.h>, <linux/in6.h>; the socket module has no names for them
_ERROR: Final = struct.Struct("=IBBBBII")  # sock_extended_err; then comes the address of who says so
_ICMP, _ICMP6 = 2, 3  # origins
_TIME_EXCEEDED = {(_ICMP, 11), (_ICMP6, 3)}
_MOST_OPEN: Final = 256
WAIT: Final = 0.5  # seconds for an answer


@dataclass(frozen=True, slots=True)
class Probe:
    """SYN to a host (its address), from port to port, that ends at the ``hops``-th router."""

    to: str
    from_port: int
    to_port: int
    hops: int


@dataclass(slots=True)
class _Open:
    probe: Probe
    index: int
    until: float


def answers(probes: Sequence[Probe], a_second: float) -> list[str | None]:
    """Address of the router at which each probe ended, sent in turn and ``a_second`` of them.

    None where nobody answered, or where somebody answered something else (the host itself, that it has no such port, or
    a router that knows no way). Two probes of the same ports must not follow each other within :data:`WAIT`. Raises
    :class:`MissingToolError` where this system hands no ICMP errors to sockets."""
    found: list[str | None] = [None] * len(probes)
    waiting: deque[socket.socket] = deque()
    with selectors.DefaultSelector() as selector:

        def close(handle: socket.socket) -> None:
            selector.unregister(handle)
            waiting.remove(handle)
            handle.close()

        def hear(seconds: float) -> None:
            for key, _ in selector.select(max(seconds, 0.0)):
                handle, one = key.fileobj, key.data
                assert isinstance(handle, socket.socket)
                found[one.index] = _answer(handle)
                close(handle)
            while waiting and (
                selector.get_key(waiting[0]).data.until < time.monotonic() or len(waiting) > _MOST_OPEN
            ):
                close(waiting[0])

        try:
            began = time.monotonic()
            for index, probe in enumerate(probes):
                hear(0.0)
                while (early := began + index / a_second - time.monotonic()) > 0:
                    hear(early)
                if (handle := _opened(probe)) is not None:
                    selector.register(
                        handle, selectors.EVENT_READ, _Open(probe, index, time.monotonic() + WAIT)
                    )
                    waiting.append(handle)
            while waiting:
                hear(selector.get_key(waiting[0]).data.until - time.monotonic())
        finally:
            while waiting:
                close(waiting[0])
    return found


def _opened(probe: Probe) -> socket.socket | None:
    """A socket on its way; None where this host has no way there, or the port is in use."""
    six = ":" in probe.to
    handle = socket.socket(socket.AF_INET6 if six else socket.AF_INET, socket.SOCK_STREAM)
    try:
        handle.setblocking(False)
        handle.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        remedy = "paths are found on Linux, outside of containers that emulate its network"
        with as_error("this system hands no answers of routers to sockets", remedy, MissingToolError):
            if six:
                handle.setsockopt(socket.IPPROTO_IPV6, _IPV6_RECVERR, 1)
                handle.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS, probe.hops)
            else:
                handle.setsockopt(socket.IPPROTO_IP, _IP_RECVERR, 1)
                handle.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, probe.hops)
        handle.bind(("", probe.from_port))
        if handle.connect_ex((probe.to, probe.to_port)) == errno.EINPROGRESS:
            return handle
    except OSError:
        pass
    except BaseException:
        handle.close()
        raise
    handle.close()
    return None


def _answer(handle: socket.socket) -> str | None:
    with suppress(OSError):
        _, told, _, _ = handle.recvmsg(1, 512, socket.MSG_ERRQUEUE)
        for _, _, data in told:
            for address in _exceeded(data):
                return address
    return None


def _exceeded(data: bytes) -> Iterator[str]:
    """The address of who says that a packet's time to live has ended."""
    if len(data) < _ERROR.size + 8:
        return
    _, origin, kind, *_ = _ERROR.unpack_from(data)
    if (origin, kind) not in _TIME_EXCEEDED:
        return
    rest = data[_ERROR.size :]
    if origin == _ICMP:
        yield socket.inet_ntop(socket.AF_INET, rest[4:8])
    elif len(rest) >= 24:
        yield socket.inet_ntop(socket.AF_INET6, rest[8:24])
