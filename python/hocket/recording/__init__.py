"""Recording what the collective calls of a running MPI program send."""

from hocket.recording.merge import Recording, merge

__all__ = ["Recording", "merge"]
