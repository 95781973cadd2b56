"""An emulated switched cluster of network namespaces, on which real MPI programs talk real TCP."""

from hocket.lab.cluster import Lab, RunResult
from hocket.lab.options import LabOptions
from hocket.lab.state import all_labs, down_all, load, take_down
from hocket.launch.mpi import Mpi, MpiFamily, find_mpi, launch_command

__all__ = [
    "Lab",
    "LabOptions",
    "Mpi",
    "MpiFamily",
    "RunResult",
    "all_labs",
    "down_all",
    "find_mpi",
    "launch_command",
    "load",
    "take_down",
]
