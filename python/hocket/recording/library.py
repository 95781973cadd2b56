"""The preload library that records, compiled for the MPI at hand and kept in the user's cache."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hocket.errors import MissingToolError
from hocket.mpi import Mpi, MpiFamily
from hocket.runtime.build import cache_dir, compile_native, library_version, native_dir

_FLAGS: Final = ("-std=c11", "-D_GNU_SOURCE", "-O2", "-fPIC", "-shared", "-fvisibility=hidden")


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
    wrapper = shutil.which(mpicc)
    if wrapper is None:
        raise MissingToolError(
            f"no MPI compiler wrapper '{mpicc}'",
            remedy="put the mpicc of your MPI beside its mpiexec, or install one: pip install mpich",
        )
    environment = dict(os.environ)
    mpi = library_version(wrapper, environment)
    folder = native_dir() / "runtime"
    sources = [folder / "record.c", folder / "record_log.c"]
    digest = hashlib.sha256("\0".join((str(Path(wrapper).resolve()), wrapper, mpi, *_FLAGS)).encode())
    for file in (*sources, folder / "record_log.h"):
        digest.update(file.read_bytes())
    home = cache_dir() / f"record-{digest.hexdigest()[:16]}"
    recorder = Recorder(home / "libhocket_record.so", mpi)
    if recorder.library.exists():
        return recorder
    print(f"hocket: building the recorder for {mpi.rstrip('.')} (once)", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="build-", dir=cache_dir()) as work:
        built = Path(work) / recorder.library.name
        compile_native([wrapper, *_FLAGS, *map(str, sources), "-o", str(built)], environment)
        home.mkdir(mode=0o700, exist_ok=True)
        built.replace(recorder.library)
    return recorder


def with_variables(mpi: Mpi, command: Sequence[str], variables: dict[str, str]) -> list[str]:
    """A command that begins with a launcher, told to set ``variables`` in every rank on every host."""
    options = []
    for name, value in variables.items():
        options += ["-genv", name, value] if mpi.family is MpiFamily.MPICH else ["-x", f"{name}={value}"]
    return [command[0], *options, *command[1:]]
