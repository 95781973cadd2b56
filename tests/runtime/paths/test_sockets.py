"""Source ports of connections: those of the plan, and everything else as without Hocket."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from free_ports import free_ports

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")


# The kernel remembers ports for a minute: every run takes others.
PORTS = free_ports(4)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("paths")
    flags = ["-std=gnu17", "-O2", "-Wall", "-Wextra", "-Werror", "-I", str(ROOT)]
    source = folder / "paths.c"
    source.write_text('#include "runtime/paths/paths.h"\n')
    subprocess.run(
        ["cc", *flags, "-fPIC", "-shared", "-fvisibility=hidden", source, "-o", folder / "paths.so", "-ldl"],
        check=True,
    )
    # The caller decides: a library of this name is one by which MPI sends.
    for name in ("libuct_like.so", "libother.so"):
        like = folder / f"{name}.c"
        like.write_text(
            "#include <sys/socket.h>\nint bound(int fd, const void* to, int size);\n"
            "int bound(int fd, const void* to, int size) { return bind(fd, to, size) + 0 * fd; }\n"
            "int joined(int fd, const void* to, int size);\n"
            "int joined(int fd, const void* to, int size) { return connect(fd, to, size) + 0 * fd; }\n"
        )
        subprocess.run(["cc", "-O0", "-fPIC", "-shared", like, "-o", folder / name], check=True)
    own = Path(__file__).with_name("own_sockets.c")
    subprocess.run(["cc", "-std=gnu17", "-O2", own, "-o", folder / "own_sockets"], check=True)
    return folder


def soon(condition: Callable[[], object]) -> bool:
    """True once it holds: the server takes its time where others run."""
    for _ in range(1000):
        if condition():
            return True
        time.sleep(0.01)
    return False


@contextmanager
def listening(family: socket.AddressFamily, ip: str) -> Iterator[tuple[int, list[int]]]:
    """A server's port, and the ports that connected to it, in order."""
    ports: list[int] = []
    held = []
    with closing(socket.socket(family)) as server:
        server.bind((ip, 0))
        server.listen(4096)

        def serve() -> None:
            while True:
                try:
                    connection, peer = server.accept()
                except OSError:
                    return
                ports.append(peer[1])
                held.append(connection)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1], ports
        server.shutdown(socket.SHUT_RDWR)
        thread.join(5)
        for connection in held:
            connection.close()


def environment(built: Path, table: str, mode: str = "hold") -> dict[str, str]:
    path = built / "table.txt"
    path.write_text(table)
    return {
        **os.environ,
        "LD_PRELOAD": str(built / "paths.so"),
        "HOCKET_PATHS": mode if mode == "off" else f"{mode}:{path}",
        "HOCKET_LOG": "1",
    }


CONNECT = """
import socket, sys
held = []
for _ in range(int(sys.argv[3])):
    one = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET)
    if len(sys.argv) > 4:
        one.bind((sys.argv[1], int(sys.argv[4])))
    one.connect((sys.argv[1], int(sys.argv[2])))
    held.append(one)
print(*[one.getsockname()[1] for one in held])
"""


def connected(built: Path, table: str, *words: object, mode: str = "hold") -> tuple[list[int], str]:
    done = subprocess.run(
        ["python3", "-c", CONNECT, *map(str, words)],
        env=environment(built, table, mode), capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    return [int(word) for word in done.stdout.split()], done.stderr


@pytest.mark.parametrize(("family", "ip"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_connections_take_the_ports_of_the_plan(built: Path, family: socket.AddressFamily, ip: str) -> None:
    with listening(family, ip) as (port, seen):
        table = f"10.99.0.1 {ip} {port} 1\n{ip} {ip} {port} {' '.join(map(str, PORTS))}\n"
        ports, said = connected(built, table, ip, port, 6)
        assert ports[:4] == PORTS  # each in use already when the next is opened
        assert not set(ports[4:]) & set(PORTS)
        assert soon(lambda: sorted(seen) == sorted(ports)), (seen, ports)
        assert "4 connections on ports of the plan; 14 ports taken, 2 connections left as asked" in said
        assert PORTS[0] not in connected(built, table, ip, port, 1, mode="off")[0]
        (bound,) = free_ports(1)
        assert connected(built, table, ip, port, 1, bound)[0] == [bound]


def test_hosts_outside_of_the_plan(built: Path) -> None:
    with listening(socket.AF_INET, "127.0.0.1") as (port, _):
        for table in (
            f"127.0.0.1 127.0.0.1 {port + 1} {PORTS[0]}\n",
            f"127.0.0.1 127.0.0.2 {port} {PORTS[0]}\n",
            f"10.99.0.1 127.0.0.1 {port} {PORTS[0]}\n",
            f"127.0.0.1 127.0.0.1 {port} 70000\n",
            f"127.0.0.1 127.0.0.1 {port}\n",
            "no addresses\n",
            "",
        ):
            assert connected(built, table, "127.0.0.1", port, 1)[0] != [PORTS[0]]


def test_a_table_that_is_not_there(built: Path) -> None:
    with listening(socket.AF_INET, "127.0.0.1") as (port, _):
        env = environment(built, "") | {"HOCKET_PATHS": "hold:/nonexistent"}
        done = subprocess.run(
            ["python3", "-c", CONNECT, "127.0.0.1", str(port), "1"],
            env=env, capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert "/nonexistent cannot be read" in done.stderr


def test_a_programs_own_sockets(built: Path) -> None:
    """Results, errors, ports that it is told and options are the same, byte for byte."""
    outputs = []
    for preload in (False, True):
        with listening(socket.AF_INET, "127.0.0.1") as (port, seen):
            table = f"127.0.0.1 127.0.0.1 {port} {' '.join(map(str, PORTS))}\n"
            env = environment(built, table) if preload else dict(os.environ)
            done = subprocess.run(
                [built / "own_sockets", str(port), *map(str, free_ports(2))],
                env=env,
                capture_output=True,
                text=True,
                check=True,
                timeout=120,
            )
            outputs.append(done.stdout)
            assert soon(lambda: set(PORTS) & set(seen)) if preload else not set(PORTS) & set(seen)
    assert outputs[0] == outputs[1]
    assert "opened 2000, written to 2000" in outputs[0]


LIBRARY = """
import ctypes, socket, struct, sys
library = ctypes.CDLL(sys.argv[1])
one = socket.socket()
address = struct.pack("=H", socket.AF_INET) + struct.pack(">H4s8x", 0, socket.inet_aton("127.0.0.1"))
assert library.bound(one.fileno(), address, 16) == 0
print(one.getsockname()[1] > 0)
one.connect(("127.0.0.1", int(sys.argv[2])))
print(one.getsockname()[1])
"""


@pytest.mark.parametrize("name", ["libuct_like.so", "libother.so"])
def test_sockets_that_the_mpi_library_binds(built: Path, name: str) -> None:
    """MPI libraries bind an address without a port before they connect; nobody else's sockets are touched."""
    with listening(socket.AF_INET, "127.0.0.1") as (port, _):
        table = f"127.0.0.1 127.0.0.1 {port} {PORTS[0]}\n"
        done = subprocess.run(
            ["python3", "-c", LIBRARY, str(built / name), str(port)],
            env=environment(built, table), capture_output=True, text=True, check=True,
        )  # fmt: skip
        told, ended = done.stdout.split()
        assert (told == "False", ended == str(PORTS[0])) == (
            (True, True) if "uct" in name else (False, False)
        )


def test_a_listener_that_finds_its_port_taken(built: Path) -> None:
    with listening(socket.AF_INET, "127.0.0.1") as (port, _):
        table = f"127.0.0.1 127.0.0.1 {port} {PORTS[0]}\n"
        program = LIBRARY.replace('struct.pack(">H4s8x", 0,', 'struct.pack(">H4s8x", int(sys.argv[2]),')
        for name, code in (("libuct_like.so", 0), ("libother.so", 1)):
            done = subprocess.run(
                ["python3", "-c", program, str(built / name), str(port)],
                env=environment(built, table), capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert done.returncode == code, done.stderr


AGAIN = """
import ctypes, socket, struct, sys
library = ctypes.CDLL(sys.argv[1])
server = socket.create_server(("127.0.0.1", int(sys.argv[2])))
address = struct.pack("=H", socket.AF_INET) + struct.pack(">H4s8x", int(sys.argv[2]), socket.inet_aton("127.0.0.1"))
def joined():
    one = socket.socket()
    assert library.joined(one.fileno(), address, 16) == 0
    print(one.getsockname()[1])
    return one, server.accept()[0]
for _ in range(3):
    one, other = joined()
    one.close()
    assert other.recv(1) == b""
    other.close()
held = [joined() for _ in range(2)]
for one, other in held:
    other.sendall(b"alive")
    assert one.recv(5) == b"alive"
"""


@pytest.mark.parametrize("name", ["libuct_like.so", "libother.so"])
def test_a_job_that_follows_another(built: Path, name: str) -> None:
    """MPI libraries get the port of a connection that has just ended, and never that of one that is open."""
    port, held = free_ports(2)
    done = subprocess.run(
        ["python3", "-c", AGAIN, str(built / name), str(port)],
        env=environment(built, f"127.0.0.1 127.0.0.1 {port} {held}\n"), capture_output=True, text=True, check=True,
    )  # fmt: skip
    *again, last = done.stdout.split()
    assert last != str(held)
    assert (again == [str(held)] * 4) == ("uct" in name)


LISTEN_AGAIN = """
import ctypes, socket, struct, sys
library = ctypes.CDLL(sys.argv[1])
address = struct.pack("=H", socket.AF_INET) + struct.pack(">H4s8x", int(sys.argv[2]), socket.inet_aton("127.0.0.1"))
def served():
    server = socket.socket()
    assert library.bound(server.fileno(), address, 16) == 0
    server.listen()
    return server
for turn in range(3):
    server = served()
    print(server.getsockname()[1])
    one = socket.create_connection(server.getsockname())
    other, _ = server.accept()
    other.close()
    assert one.recv(1) == b""
    one.close()
    if turn < 2:
        server.close()
print(served().getsockname()[1])
"""


@pytest.mark.parametrize("rank", ["0", "1"])
def test_a_listener_that_follows_another(built: Path, rank: str) -> None:
    """The first rank of a host gets the port of a listener whose connections have just ended."""
    (port,) = free_ports(1)
    done = subprocess.run(
        ["python3", "-c", LISTEN_AGAIN, str(built / "libuct_like.so"), str(port)],
        env=environment(built, f"127.0.0.1 127.0.0.1 {port} {PORTS[2]}\n") | {"MPI_LOCALRANKID": rank},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    *again, last = done.stdout.split()
    assert again[0] == str(port) != last
    assert (again == [str(port)] * 3) == (rank == "0")
