"""The files by which pkg-config and CMake find the library for one MPI.

They are printed on the machine and not part of the wheel: which library serves an MPI is known there only."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from hocket.errors import HocketError

ABOUT: Final = "MPI runtime of Hocket for programs with hocket.h"

_CMAKE: Final = """\
# {about}, version {version}; printed by hocket info --cmake.
set(Hocket_VERSION {version})
if(NOT MPI_C_COMPILER)
  set(MPI_C_COMPILER {mpicc})
endif()
include(CMakeFindDependencyMacro)
find_dependency(MPI COMPONENTS C)
"""
_CMAKE_LIBRARY: Final = """\
if(NOT EXISTS {library})
  set(Hocket_FOUND FALSE)
  set(Hocket_NOT_FOUND_MESSAGE "its library is gone: print this file again (hocket info --cmake)")
  return()
endif()
if(NOT TARGET Hocket::{name})
  add_library(Hocket::{name} SHARED IMPORTED)
  set_target_properties(Hocket::{name} PROPERTIES
    IMPORTED_LOCATION {library}
    IMPORTED_NO_SONAME TRUE
    INTERFACE_INCLUDE_DIRECTORIES {include}
    INTERFACE_LINK_LIBRARIES {needs})
endif()
"""

# Same rules as CMake's SameMajorVersion, whose generator would need CMake to run.
_CMAKE_VERSION: Final = """\
# {about}; printed by hocket info --cmake-version.
set(PACKAGE_VERSION {version})
set(PACKAGE_VERSION_COMPATIBLE TRUE)
if(PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
elseif(PACKAGE_FIND_VERSION_RANGE)
  if(PACKAGE_VERSION VERSION_GREATER PACKAGE_FIND_VERSION_MAX OR
     (PACKAGE_VERSION VERSION_EQUAL PACKAGE_FIND_VERSION_MAX AND PACKAGE_FIND_VERSION_RANGE_MAX STREQUAL "EXCLUDE"))
    set(PACKAGE_VERSION_COMPATIBLE FALSE)
  endif()
elseif(NOT PACKAGE_FIND_VERSION_MAJOR EQUAL {major})
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
endif()
if(PACKAGE_VERSION VERSION_EQUAL PACKAGE_FIND_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
"""


def compile_flags(includes: Sequence[Path]) -> list[str]:
    """Compiler flags that find ``hocket.h`` and the headers beside it."""
    return [f"-I{include}" for include in includes]


def link_flags(libraries: Sequence[Path]) -> list[str]:
    """Linker flags that find the libraries, at link time and at run time: each before those that it needs."""
    return [flag for library in libraries for flag in (
        f"-L{library.parent}", f"-l{library.stem.removeprefix('lib')}", f"-Wl,-rpath,{library.parent}")]  # fmt: skip


def pkg_config_file(version: str, includes: Sequence[Path], libraries: Sequence[Path]) -> str:
    """``hocket.pc``. MPI is left to the compiler: ``mpicc``."""
    lines = {
        "Name": "hocket",
        "Description": ABOUT,
        "Version": version,
        "Cflags": _of_pkg_config(compile_flags(includes)),
        "Libs": _of_pkg_config(link_flags(libraries)),
    }
    return "".join(f"{key}: {value}\n" for key, value in lines.items())


def cmake_file(version: str, includes: Sequence[Path], libraries: Sequence[Path], mpicc: str) -> str:
    """``HocketConfig.cmake``, which defines the target ``Hocket::hocket``; it brings the MPI with it.

    With the library of sorting before the runtime (and so its headers) ``Hocket::sort`` as well."""
    file, needs = _CMAKE.format(about=ABOUT, version=version, mpicc=_of_cmake(mpicc)), "MPI::MPI_C"
    names = ("hocket", "sort")[: len(libraries)]
    for name, library, include in zip(names, reversed(libraries), reversed(includes), strict=True):
        file += _CMAKE_LIBRARY.format(
            name=name, library=_of_cmake(str(library)), include=_of_cmake(str(include)), needs=needs
        )
        needs = f"Hocket::{name}"
    return file


def cmake_version_file(version: str) -> str:
    """``HocketConfigVersion.cmake``: older and other major versions than wanted do not fit."""
    return _CMAKE_VERSION.format(about=ABOUT, version=version, major=version.split(".")[0])


def _of_pkg_config(flags: list[str]) -> str:
    """Quote flags for pkg-config, which splits them as a shell does, but finds comments before and expands
    variables even in quotes."""
    text = shlex.join(flags)
    if "$" in text:
        raise _unreadable("pkg-config", text)
    return text.replace("#", r"\#")


def _of_cmake(path: str) -> str:
    """A bracket argument: nothing in it is read."""
    if "]=]" in path or ";" in path:
        raise _unreadable("CMake", path)
    return f"[=[{path}]=]"


def _unreadable(tool: str, path: str) -> HocketError:
    return HocketError(
        f"{tool} cannot read {path}", remedy="install Hocket, or set XDG_CACHE_HOME, elsewhere"
    )
