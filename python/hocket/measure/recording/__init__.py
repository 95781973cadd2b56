"""Recording what the collective calls of a running MPI program send."""

from hocket.measure.recording.merge import Recording, merge

__all__ = ["Recording", "merge"]
