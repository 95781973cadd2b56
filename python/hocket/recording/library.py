"""The preload library that records, compiled for the MPI at hand and kept in the user's cache."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hocket.mpi import Mpi, MpiFamily
from hocket.runtime.build import digest_of, native_dir
from hocket.runtime.cache import build_once
from hocket.runtime.compiling import compile_native
from hocket.runtime.wrapper import read_wrapper

_FLAGS: Final = ("-std=c11", "-D_GNU_SOURCE", "-O2", "-fPIC", "-shared", "-fvisibility=hidden")
_LIBRARY: Final = "libhocket_record.so"


@dataclass(frozen=True, slots=True)
class Recorder:
    """The library to preload, and the MPI it was built for."""

    library: Path
    mpi: str

    def environment(self, folder: Path) -> dict[str, str]:
        """The variables that make every rank write a file into ``folder``, which all hosts must see."""
        preload = ":".join(filter(None, [str(self.library), os.environ.get("LD_PRELOAD", "")]))
        return {
            "LD_PRELOAD": preload,
            "HOCKET_RECORD": str(folder.resolve()),
            "HOCKET_RECORD_MPI": self.mpi,
        }


def build_recorder(mpicc: str) -> Recorder:
    """The recorder for the MPI behind ``mpicc``; compiled on first use."""
    wrapper = read_wrapper(mpicc)
    folder = native_dir() / "runtime"
    sources = [folder / "record.c", folder / "record_log.c"]

    def build(made: Path, work: Path) -> None:
        print(f"hocket: building the recorder for {wrapper.version} (once)", file=sys.stderr)
        command = [wrapper.path, *_FLAGS, *map(str, sources), "-o", str(made / _LIBRARY)]
        compile_native(command, os.environ, work)

    headers = [folder / "record_log.h", folder / "which_mpi.h"]
    name = f"record-{digest_of([*_FLAGS, wrapper.identity], [*sources, *headers])}"
    return Recorder(build_once(name, [_LIBRARY], build) / _LIBRARY, wrapper.mpi)


def with_variables(mpi: Mpi, command: Sequence[str], variables: dict[str, str]) -> list[str]:
    """A command that begins with a launcher, told to set ``variables`` in every rank on every host."""
    options = []
    for name, value in variables.items():
        options += ["-genv", name, value] if mpi.family is MpiFamily.MPICH else ["-x", f"{name}={value}"]
    return [command[0], *options, *command[1:]]
