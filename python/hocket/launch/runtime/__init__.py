"""The libraries that ranks load: which one serves an MPI, and how it is compiled where there is none."""

from hocket.launch.runtime.build import Runtime, build_runtime
from hocket.launch.runtime.ready import find_runtime, find_sort

__all__ = ["Runtime", "build_runtime", "find_runtime", "find_sort"]
