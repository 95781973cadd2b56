"""Paths of the emulated fabric: found, planned, and taken by the connections of unmodified programs."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hocket.lab import Lab, LabOptions, namespaces
from hocket.launch.environment import RuntimeOptions, scheduled_environment
from hocket.launch.mpi import Mpi
from hocket.network import read_known_network, read_network_description
from hocket.network.path_probe import Probe
from hocket.network.paths import asked_of, choose
from probes import asked

pytestmark = pytest.mark.by_turns

needs_root = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("nsenter") is None, reason="the lab needs root and nsenter (util-linux)"
)
FABRIC = "fat-tree:2x2x2@50Mbit"
SEED = 7
PACE = int(0.95 * 50e6 / 8)  # headers take the rest
PROGRAM = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
static int paced;
int setsockopt(int fd, int level, int name, const void* value, socklen_t length) {
  paced += level == SOL_SOCKET && name == SO_MAX_PACING_RATE && *(const unsigned long*)value == PACE;
  return (int)syscall(SYS_setsockopt, fd, level, name, value, length);
}
int main(int count, char** words) {
  MPI_Init(&count, &words);
  int n, rank, wrong = 0, bytes = 65536;
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  unsigned char *out = malloc(n * bytes), *in = malloc(n * bytes);
  for (int i = 0; i < n * bytes; ++i) out[i] = (unsigned char)(rank * 31 + i * 7);
  for (int call = 0; call < 2; ++call) MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
  for (int from = 0; from < n; ++from)
    for (int i = 0; i < bytes; ++i)
      wrong += in[from * bytes + i] != (unsigned char)(from * 31 + (rank * bytes + i) * 7);
  fprintf(stderr, "rank %d paced %d\\n", rank, paced);
  MPI_Finalize();
  return wrong != 0;
}
"""
# Calls, then a stop until somebody has taken a spine away, then more calls; bytes of each are compared. Some are
# nonblocking: their schedules are made anew, too. Those of a reduction, which decide its result, are not.
CHANGING = """
#include <fcntl.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int wrong, n, rank, bytes = 65536;
static unsigned char *out, *in;
static void all_to_all(int number, int waits) {
  for (int i = 0; i < n * bytes; ++i) out[i] = (unsigned char)(rank * 31 + i * 7 + number);
  MPI_Request request;
  if (waits) MPI_Ialltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD, &request);
  else MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
  if (waits) MPI_Wait(&request, MPI_STATUS_IGNORE);
  for (int from = 0; from < n; ++from)
    for (int i = 0; i < bytes; ++i)
      wrong += in[from * bytes + i] != (unsigned char)(from * 31 + (rank * bytes + i) * 7 + number);
}
// The last rank errs where it is waited for, and where nobody waits for it: there it goes on by the root's message.
static void err_on_one_rank(void) {
  int number = 7, errs = rank == n - 1;
  if (errs) wrong += MPI_Bcast(&number, -1, MPI_INT, 0, MPI_COMM_WORLD) == MPI_SUCCESS;
  if (errs) MPI_Recv(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (rank == 0) MPI_Send(&number, 1, MPI_INT, n - 1, 0, MPI_COMM_WORLD);
  wrong += number != 7;
  if (errs) wrong += MPI_Alltoall(out, -1, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD) == MPI_SUCCESS;
}
static void wait_for(const char* reached, const char* go) {
  int there = 0;
  if (rank == 0) close(creat(reached, 0600));
  while (!there) {
    usleep(20000);
    if (rank == 0) there = access(go, F_OK) == 0;
    MPI_Bcast(&there, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
}
int main(int count, char** words) {
  MPI_Init(&count, &words);
  const int errs = count > 4;
  if (errs) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_size(MPI_COMM_WORLD, &n);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  out = malloc(n * bytes);
  in = malloc(n * bytes);
  static double own[8192], first[8192], last[8192];
  for (int i = 0; i < 8192; ++i) own[i] = 1.0 / (rank + 3 + i % 7);
  MPI_Allreduce(own, first, 8192, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int call = 0; call < 6; ++call) {
    all_to_all(call, call % 3 == 2);
    if (errs && call % 3 == 0) err_on_one_rank();
  }
  wait_for(words[1], words[2]);
  int left = 6;  // after it was said, or nothing is waited for
  for (int call = 6; left > 0; ++call) {
    all_to_all(call, call % 3 == 2);
    if (errs && call % 3 == 0) err_on_one_rank();
    int over = rank == 0 && access(words[3], F_OK) == 0;
    MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
    left -= over;
  }
  MPI_Allreduce(own, last, 8192, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return wrong != 0 || memcmp(first, last, sizeof first) != 0;
}
"""


def found_in(lab: Lab, mpi: Mpi, folder: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "hocket", "network", "discover", "--paths", FABRIC, "--json"]
    result = lab.run([*command, "-o", str(folder / "found.toml")], mpi=mpi, timeout=120, capture=True)  # fmt: skip
    assert result.exit_code == 0, result.output
    return dict(json.loads(next(line for line in result.output.splitlines() if line.startswith("{"))))


@pytest.mark.lab
@needs_root
def test_paths_are_found_and_held(mpi: Mpi, tmp_path: Path) -> None:
    pytest.importorskip("mpi4py")
    with Lab.up(read_network_description(FABRIC), LabOptions(ecmp=True, ecmp_seed=SEED)) as lab:
        told = found_in(lab, mpi, tmp_path)
        assert (told["hosts"], told["pairs"], told["ways"]) == (4, 8, ["s2", "s3"])
        assert told["packets_per_pair"] <= 64
        assert told["silent"] < told["asked"] / 10
        known = read_known_network(str(tmp_path / "found.toml"))
        paths = known.description.paths
        assert paths is not None

        # Each port is seen on the spine of its route, both ways.
        plain = known.without_paths().network
        chosen = choose(plain, paths)
        node = {plain.names[host]: host for host in plain.hosts}
        assert len(chosen.held) == 8
        for (a, b), ports in chosen.held.items():
            for x, y, here, there in ((a, b, ports[0], paths.listen), (b, a, paths.listen, ports[0])):
                seen = asked(lab, x, [Probe(paths.addresses[y], here, there, 2)])[0]
                spine = {f"10.255.0.{number + 1}": f"s{number}" for number in range(4)}[seen or ""]
                assert asked_of(plain, node[x], node[y])[1][spine] == chosen.routes[node[x], node[y]]

    program = tmp_path / "program"
    (tmp_path / "program.c").write_text(PROGRAM)
    flags = ["-O2", "-rdynamic", f"-DPACE={PACE}UL"]
    subprocess.run([mpi.mpicc, *flags, tmp_path / "program.c", "-o", program], check=True)
    command = [sys.executable, "-m", "hocket", "lab", "run", "--network", str(tmp_path / "found.toml"), "--ecmp",
               "--ecmp-seed", str(SEED), "--mpi", mpi.mpiexec, "--choose", "off", str(program)]  # fmt: skip
    for word, scheduled in (("hold", True), ("spread", False), ("off", True)):
        done = subprocess.run(
            command, env=os.environ | {"HOCKET_LOG": "1", "HOCKET_PATHS": word}, capture_output=True, text=True,
            timeout=300, check=False,
        )  # fmt: skip
        said = done.stdout + done.stderr
        assert done.returncode == 0, said
        assert ("all-to-all of 4 ranks on 4 hosts" in said) == scheduled
        paced = [int(calls) for calls in re.findall(r"^rank \d paced (\d+)$", said, re.MULTILINE)]
        assert len(paced) == 4 and (sum(paced) > 0) == (word == "hold")
        held = [
            line for line in said.splitlines() if "hocket: paths:" in line and "connections on ports" in line
        ]
        if word == "off":
            assert not held
        else:
            assert len(held) == 4
            assert sum(int(line.split("paths: ")[1].split()[0]) for line in held) >= 4
            assert all(
                "0 connections left as asked, 0 bound before, 0 listeners elsewhere" in line for line in held
            )


@pytest.mark.lab
@needs_root
def test_a_job_on_a_tree_has_no_paths(mpi: Mpi, tmp_path: Path) -> None:
    pytest.importorskip("mpi4py")
    tree = "chain:1,1@50Mbit"
    with Lab.up(read_network_description(tree)) as lab:
        command = [sys.executable, "-m", "hocket", "network", "discover", "--paths", tree]
        result = lab.run([*command, "-o", str(tmp_path / "found.toml")], mpi=mpi,
                         timeout=60, capture=True)  # fmt: skip
        assert result.exit_code == 2
        assert "one way between any two hosts" in result.output
    assert not list(tmp_path.iterdir())


LOOK = """
import datetime, sys
from hocket.doctor.network import check_paths
from hocket.network import read_known_network
known = read_known_network(sys.argv[1])
for found in check_paths(known.without_paths().network, known.description.paths, datetime.datetime.now(datetime.UTC)):
    print(found.level, found.text)
"""


# Keeps what rank 0 says in a file, and may spoil its table of paths, whose lines SPOIL takes away.
WRAPPER = """#!/bin/sh
if [ "${PMI_RANK:-$OMPI_COMM_WORLD_RANK}" = 0 ]; then
  exec 2> "$SAID"
  sed "$SPOIL" "${HOCKET_PATHS#*:}" > "$SAID.table"
  export HOCKET_PATHS="hold:$SAID.table"
fi
exec "$@"
"""


class Fabric:
    """A lab whose paths are found, and a program for it."""

    def __init__(self, lab: Lab, mpi: Mpi, folder: Path) -> None:
        self.lab, self.mpi, self.folder = lab, mpi, folder
        self.program, self.wrapper = folder / "program", folder / "wrapper"
        self.wrapper.write_text(WRAPPER)
        self.wrapper.chmod(0o700)
        self.network = str(folder / "found.toml")
        (folder / "program.c").write_text(CHANGING)
        subprocess.run([mpi.mpicc, "-O2", folder / "program.c", "-o", self.program], check=True)
        found_in(lab, mpi, folder)
        options = RuntimeOptions(choose="off", log=1)
        self.env = scheduled_environment(mpi.mpicc, read_known_network(self.network), options)

    def look(self) -> str:
        command = [sys.executable, "-c", LOOK, self.network]
        return self.lab.call("n0", command, timeout=60, capture=True).output

    def run(self, between: Callable[[], None], until: str, *words: str, spoil: str = "") -> str:
        """Return what rank 0 of a job has said. ``between``: done after some calls; more follow until it says
        ``until``. ``words``: of the program.
        """
        marks = reached, go, over, said = [self.folder / name for name in ("reached", "go", "over", "said")]
        for mark in marks:
            mark.unlink(missing_ok=True)

        def wait(for_: Callable[[], bool]) -> None:
            while not for_():
                time.sleep(0.02)

        def act() -> None:
            wait(reached.exists)
            between()
            go.touch()
            wait(lambda: until in said.read_text())
            over.touch()

        threading.Thread(target=act, daemon=True).start()
        command = [str(word) for word in (self.wrapper, self.program, reached, go, over, *words)]
        env = self.env | {"SAID": str(said), "SPOIL": spoil}
        result = self.lab.run(command, mpi=self.mpi, env=env, timeout=120, capture=True)
        text = said.read_text()
        assert result.exit_code == 0, text + result.output
        return text

    def spine_down(self) -> None:
        """All links of one of the two spines, at its end."""
        from pyroute2 import IPRoute

        def down() -> None:
            with IPRoute() as ip:
                for link in ip.get_links():
                    if link.get_attr("IFLA_IFNAME").startswith("p"):
                        ip.link("set", index=link["index"], state="down")

        spine = next(node for node in self.lab.state.nodes if node.name == "s2")
        namespaces.inside(self.lab.state.net(spine), down)


@pytest.fixture
def fabric(mpi: Mpi, tmp_path: Path) -> Iterator[Fabric]:
    pytest.importorskip("mpi4py")
    with Lab.up(read_network_description(FABRIC), LabOptions(ecmp=True, ecmp_seed=SEED)) as lab:
        yield Fabric(lab, mpi, tmp_path)


CHANGED = "connections take other ways than were found"


def planned(said: str) -> list[int]:
    """Phases of the all-to-alls that were planned, in turn."""
    return [int(phases) for phases in re.findall(r"all-to-all of 4 ranks on 4 hosts: (\d+) phases", said)]


@pytest.mark.lab
@needs_root
def test_a_spine_goes_down_in_a_job(fabric: Fabric) -> None:
    """The job says so once, and plans on what is left; so does the next one."""
    assert "2 of 2 connections asked take the way that was found" in fabric.look()
    first = fabric.run(fabric.spine_down, until="4 phases")
    assert "of 2 connections of this host 0 take another way now, of 0 no router told" in first
    assert first.count(CHANGED) == 1
    before, after = first.split(CHANGED)
    assert "by s3); plans are made anew" in after
    # Three messages a host; then four up each leaf's one link.
    assert (planned(before), planned(after)) == ([3], [4])
    assert first.count("all-reduce of 4 ranks on 4 hosts") == 1

    second = fabric.run(lambda: None, until="4 phases")
    assert second.count(CHANGED) == 1
    assert planned(second) == [4]
    assert "problem" in fabric.look()


@pytest.mark.lab
@needs_root
def test_a_rank_that_sees_no_change_follows(fabric: Fabric) -> None:
    said = fabric.run(fabric.spine_down, "4 phases", spoil="/^way /d")
    assert "paths found" not in said
    assert planned(said) == [3, 4]
    assert said.count(CHANGED) == 1


@pytest.mark.lab
@needs_root
def test_errors_of_one_rank_hold_up_nobody(fabric: Fabric) -> None:
    """Ranks ask each other only where they wait for each other anyway; who errs has asked nothing, and counts alike."""
    said = fabric.run(fabric.spine_down, "4 phases", "errors")
    assert planned(said) == [3, 4]
    assert said.count(CHANGED) == 1


@pytest.mark.lab
@needs_root
def test_no_rank_plans_anew_where_one_cannot(fabric: Fabric) -> None:
    """All have agreed that ways have changed when one finds that it does not know the ways there are."""
    problem = "the table of paths (HOCKET_PATHS) is damaged; plans keep to the ways that they are for"
    said = fabric.run(fabric.spine_down, problem, spoil="/^up /d")
    assert planned(said) == [3]
    assert said.count(problem) == 1
    assert CHANGED not in said
