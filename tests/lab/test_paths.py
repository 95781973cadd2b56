"""Paths of the emulated fabric: found, planned, and taken by the connections of unmodified programs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from hocket.lab import Lab, LabOptions, namespaces
from hocket.launch.environment import RuntimeOptions, scheduled_environment
from hocket.launch.mpi import Mpi, mpi4py_environment
from hocket.network import read_known_network, read_network_description
from hocket.network.paths.choose import asked_of, choose
from hocket.network.paths.probe import Probe
from probes import asked

needs_root = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("nsenter") is None, reason="the lab needs root and nsenter (util-linux)"
)
FABRIC = "fat-tree:2x2x2@50Mbit"
SEED = 7
PROGRAM = """
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
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
  MPI_Finalize();
  return wrong != 0;
}
"""
# Stops between two calls until somebody has taken a spine away.
WAITING = """
#include <unistd.h>
static void between(const char* reached, const char* go) {
  int rank, there = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) close(creat(reached, 0600));
  while (!there) {
    usleep(20000);
    if (rank == 0) there = access(go, F_OK) == 0;
    MPI_Bcast(&there, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
}
"""


def found_in(lab: Lab, mpi: Mpi, folder: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "hocket", "network", "discover", "--paths", FABRIC, "--json"]
    result = lab.run([*command, "-o", str(folder / "found.toml")], mpi=mpi, env=mpi4py_environment(mpi),
                     timeout=120, capture=True)  # fmt: skip
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
    subprocess.run([mpi.mpicc, "-O2", tmp_path / "program.c", "-o", program], check=True)
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
        result = lab.run([*command, "-o", str(tmp_path / "found.toml")], mpi=mpi, env=mpi4py_environment(mpi),
                         timeout=60, capture=True)  # fmt: skip
        assert result.exit_code == 2
        assert "one way between any two hosts" in result.output
    assert not list(tmp_path.iterdir())


def spine_down(lab: Lab, name: str) -> None:
    """All links of a switch, at its end."""
    from pyroute2 import IPRoute

    def down() -> None:
        with IPRoute() as ip:
            for link in ip.get_links():
                if link.get_attr("IFLA_IFNAME").startswith("p"):
                    ip.link("set", index=link["index"], state="down")

    namespaces.inside(lab.state.net(next(node for node in lab.state.nodes if node.name == name)), down)


LOOK = """
import datetime, sys
from hocket.doctor.paths import check_paths
from hocket.network import read_known_network
known = read_known_network(sys.argv[1])
for found in check_paths(known.without_paths().network, known.description.paths, datetime.datetime.now(datetime.UTC)):
    print(found.level, found.text)
"""


@pytest.mark.lab
@needs_root
def test_a_spine_goes_down_in_a_job(mpi: Mpi, tmp_path: Path) -> None:
    """The job goes on; the next one says once that ways have changed, and plans on what is left."""
    pytest.importorskip("mpi4py")
    program, source = tmp_path / "program", PROGRAM.replace("int main", WAITING + "int main")
    calls = "MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);"
    source = source.replace(calls, f"{{ {calls} if (call == 0) between(words[1], words[2]); }}")
    source = source.replace("#include <string.h>", "#include <string.h>\n#include <fcntl.h>")
    (tmp_path / "program.c").write_text(source)
    subprocess.run([mpi.mpicc, "-O2", tmp_path / "program.c", "-o", program], check=True)
    reached, go = tmp_path / "reached", tmp_path / "go"
    with Lab.up(read_network_description(FABRIC), LabOptions(ecmp=True, ecmp_seed=SEED)) as lab:
        found_in(lab, mpi, tmp_path)
        network = str(tmp_path / "found.toml")
        env = scheduled_environment(
            mpi.mpicc, read_known_network(network), RuntimeOptions(choose="off", log=1)
        )
        command = [str(program), str(reached), str(go)]

        def look() -> str:
            return lab.call("n0", [sys.executable, "-c", LOOK, network], timeout=60, capture=True).output

        assert "2 of 2 connections asked take the way that was found" in look()
        broken: list[bool] = []

        def breaks() -> None:
            while not reached.exists():
                time.sleep(0.02)
            spine_down(lab, "s2")
            broken.append(True)
            go.touch()

        helper = threading.Thread(target=breaks, daemon=True)
        helper.start()
        first = lab.run(command, mpi=mpi, env=env, timeout=200, capture=True)
        assert first.exit_code == 0, first.output
        assert broken
        assert "all-to-all of 4 ranks on 4 hosts: 3 phases" in first.output
        assert "of 2 connections of this host 0 take another way now, of 0 no router told" in first.output
        assert "take other ways" not in first.output

        second = lab.run(command, mpi=mpi, env=env, timeout=200, capture=True)
        assert second.exit_code == 0, second.output
        assert second.output.count("connections take other ways than were found") == 1
        assert "by s3); plans are made anew" in second.output
        assert (
            "all-to-all of 4 ranks on 4 hosts: 4 phases" in second.output
        )  # four messages up each leaf's one link
        assert "problem" in look()
