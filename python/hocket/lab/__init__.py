"""An emulated switched cluster of network namespaces, on which real MPI programs talk real TCP."""

from hocket.lab.cluster import Lab, RunResult
from hocket.lab.state import LabOptions, all_labs, down_all, load, take_down

__all__ = ["Lab", "LabOptions", "RunResult", "all_labs", "down_all", "load", "take_down"]
