"""The probe of probe.c by mpi4py, for machines without a compiler."""

import os

from mpi4py import MPI

BYTES = 1 << 18  # large enough to be scheduled


def _block(source: int, to: int) -> bytes:
    return bytes((31 * source + 17 * to + i) % 256 for i in range(256)) * (BYTES // 256)


def main() -> None:
    comm = MPI.COMM_WORLD
    rank, ranks = comm.Get_rank(), comm.Get_size()
    sent = b"".join(_block(rank, to) for to in range(ranks))
    got = bytearray(BYTES * ranks)
    comm.Alltoall([sent, BYTES, MPI.BYTE], [got, BYTES, MPI.BYTE])
    right = got == b"".join(_block(source, rank) for source in range(ranks))
    words = ("hocket-probe", rank, "right" if right else "wrong", MPI.Get_processor_name())
    line = "\t".join(map(str, (*words, os.environ.get("SLURMD_NODENAME", ""))))
    os.write(1, f"{line}\n".encode())  # at once: launchers mix what comes in pieces


if __name__ == "__main__":
    main()
