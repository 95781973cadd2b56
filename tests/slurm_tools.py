"""Common parts of tests in the lab's Slurm: whether it is available, and a program that checks its bytes."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from hocket.errors import HocketError
from hocket.lab.slurm import PMI, TOOLS, tool
from hocket.launch.mpi import Mpi, find_mpi

PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
enum { BYTES = 20000 };
/* Open MPI 5 crashes if a message comes while its receiver is still in MPI_Init. Slurm's pmix lets ranks out of it one
 * after the other. So no rank sends before each has left a file that says that it is out. */
static void wait_for_all(const char* program, int me, int ranks) {
  char name[4096];
  const char *job = getenv("SLURM_JOB_ID"), *step = getenv("SLURM_STEP_ID");
  if (!job || !step || getenv("OMPI_COMM_WORLD_RANK")) return; /* not by srun */
  snprintf(name, sizeof name, "%s.%s.%s.%d", program, job, step, me);
  fclose(fopen(name, "w"));
  for (int rank = 0; rank < ranks; rank++) {
    snprintf(name, sizeof name, "%s.%s.%s.%d", program, job, step, rank);
    while (access(name, F_OK)) usleep(1000);
  }
}
static char byte(int rank, int i) { return (char)(rank * 31 + i * 7); }
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks, me, length, wrong = 0;
  char host[MPI_MAX_PROCESSOR_NAME];
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Get_processor_name(host, &length);
  wait_for_all(argv[0], me, ranks);
  char* mine = malloc(BYTES);
  char* all = malloc((size_t)BYTES * ranks);
  for (int i = 0; i < BYTES; i++) mine[i] = byte(me, i);
  MPI_Allgather(mine, BYTES, MPI_CHAR, all, BYTES, MPI_CHAR, MPI_COMM_WORLD);
  for (int from = 0; from < ranks; from++)
    for (int i = 0; i < BYTES; i++) wrong += all[(size_t)from * BYTES + i] != byte(from, i);
  printf("rank %d of %d on %s: %d wrong\n", me, ranks, host, wrong);
  MPI_Finalize();
  return wrong != 0;
}
"""


def slurm_or_skip(mpi: Mpi | None = None) -> None:
    """A machine where the lab and its Slurm can be, and start ranks of ``mpi``."""
    if os.geteuid() != 0 or shutil.which("nsenter") is None:
        pytest.skip("the lab needs root and nsenter (util-linux)")
    try:
        for name in TOOLS:
            tool(name)
    except HocketError as error:
        pytest.skip(str(error))
    if (
        mpi is not None
        and PMI[mpi.family] == "pmix"
        and not any(Path("/usr/lib").glob("*/pmix2/lib/libpmix.so"))
    ):
        pytest.skip("Slurm's pmix plugin loads libpmix.so; install libpmix-dev")


def mpich_or_skip() -> Mpi:
    """MPICH, and a Slurm that starts it."""
    slurm_or_skip()
    try:
        return find_mpi("mpich")
    except HocketError as error:
        pytest.skip(str(error))


def compiled(mpi: Mpi, folder: Path) -> Path:
    source, program = folder / "program.c", folder / "program"
    source.write_text(PROGRAM)
    subprocess.run([str(mpi.mpicc), "-o", str(program), str(source)], check=True, timeout=120)
    return program
