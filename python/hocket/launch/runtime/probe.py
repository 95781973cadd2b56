"""Asks an MPI library what it is and which functions it has, without starting MPI.

Run in a process of its own (``python probe.py LIBRARY``, a JSON list of names on standard input, the answer as JSON on
standard output), so that the library is not loaded into the asking one. Needs nothing of Hocket."""

import ctypes
import json
import sys
from typing import Any

_TEXT_BYTES = 8192  # no MPI's MPI_MAX_LIBRARY_VERSION_STRING is more


def look(path: str, names: list[str]) -> dict[str, Any]:
    """``version``: the text of the library; ``abi``: the major version of the standard ABI that it speaks,
    0 if it speaks its own; ``functions``: for each name whether it is there. The standard allows both
    questions before MPI_Init. Raises OSError if the library cannot be loaded."""
    library = ctypes.CDLL(path)
    text, length = ctypes.create_string_buffer(_TEXT_BYTES), ctypes.c_int()
    library.MPI_Get_library_version(text, ctypes.byref(length))
    major, minor = ctypes.c_int(), ctypes.c_int()
    speaks = hasattr(library, "MPI_Abi_get_version") and (
        library.MPI_Abi_get_version(ctypes.byref(major), ctypes.byref(minor)) == 0
    )
    return {
        "version": text.value.decode(errors="replace"),
        "abi": max(major.value, 0) if speaks else 0,
        "functions": {name: hasattr(library, name) for name in names},
    }


if __name__ == "__main__":
    json.dump(look(sys.argv[1], json.load(sys.stdin)), sys.stdout)
