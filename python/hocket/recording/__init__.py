"""Recording what the collective calls of a running MPI program send."""

from hocket.recording.library import Recorder, build_recorder
from hocket.recording.merge import Recording, merge

__all__ = ["Recorder", "Recording", "build_recorder", "merge"]
