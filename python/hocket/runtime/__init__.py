"""Running MPI programs with Hocket's schedules: the preload library, its build, its environment."""

from hocket.runtime.build import Runtime, build_runtime
from hocket.runtime.environment import RuntimeOptions, scheduled_environment
from hocket.runtime.ready import find_runtime

__all__ = ["Runtime", "RuntimeOptions", "build_runtime", "find_runtime", "scheduled_environment"]
