"""What messages cost on a network: measured by ``hocket calibrate network``, or assumed."""

from __future__ import annotations

from hocket.calibration.figures import Calibration, Class, Figure, Flows
from hocket.calibration.files import kept_path, read_calibration, read_file_of

__all__ = ["Calibration", "Class", "Figure", "Flows", "kept_path", "read_calibration", "read_file_of"]
