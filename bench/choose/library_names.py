"""Names that SimGrid and MPI libraries give to the core's library calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hocket.demand.collectives import ALL_GATHER, ALL_TO_ALL
from hocket.launch.mpi import MpiFamily

# --cfg=smpi/alltoall:NAME. Its all-gather called "ring" sends everything from everybody to everybody.
SMPI_NAMES: Final[Mapping[tuple[str, str], str]] = {
    (ALL_TO_ALL, "all-at-once"): "basic_linear",
    (ALL_TO_ALL, "ring"): "ring",
    (ALL_TO_ALL, "bruck"): "bruck",
    (ALL_GATHER, "ring"): "NTSLR",
    (ALL_GATHER, "recursive-doubling"): "rdb",
    (ALL_GATHER, "bruck"): "bruck",
}


def _mpich(call: str, algorithm: str) -> dict[str, str]:
    return {
        "MPIR_CVAR_DEVICE_COLLECTIVES": "none",
        f"MPIR_CVAR_{call}_INTRA_ALGORITHM": algorithm,
    }


def _openmpi(call: str, number: int) -> dict[str, str]:
    return {
        "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
        f"OMPI_MCA_coll_tuned_{call}_algorithm": str(number),
    }


LIBRARY_VARIABLES: Final[Mapping[tuple[MpiFamily, str, str], Mapping[str, str]]] = {
    (MpiFamily.MPICH, ALL_TO_ALL, "all-at-once"): _mpich("ALLTOALL", "scattered"),
    (MpiFamily.MPICH, ALL_TO_ALL, "pairwise"): _mpich("ALLTOALL", "pairwise"),
    (MpiFamily.MPICH, ALL_TO_ALL, "bruck"): _mpich("ALLTOALL", "brucks"),
    (MpiFamily.MPICH, ALL_GATHER, "ring"): _mpich("ALLGATHER", "ring"),
    (MpiFamily.MPICH, ALL_GATHER, "recursive-doubling"): _mpich("ALLGATHER", "recursive_doubling"),
    (MpiFamily.MPICH, ALL_GATHER, "bruck"): _mpich("ALLGATHER", "brucks"),
    (MpiFamily.OPENMPI, ALL_TO_ALL, "all-at-once"): _openmpi("alltoall", 1),
    (MpiFamily.OPENMPI, ALL_TO_ALL, "ring"): _openmpi("alltoall", 2),
    (MpiFamily.OPENMPI, ALL_TO_ALL, "bruck"): _openmpi("alltoall", 3),
    (MpiFamily.OPENMPI, ALL_GATHER, "ring"): _openmpi("allgather", 4),
    (MpiFamily.OPENMPI, ALL_GATHER, "recursive-doubling"): _openmpi("allgather", 3),
    (MpiFamily.OPENMPI, ALL_GATHER, "bruck"): _openmpi("allgather", 2),
}
