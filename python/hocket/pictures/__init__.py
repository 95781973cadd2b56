"""Pictures of schedules and their simulations."""

from hocket.pictures.gantt import gantt
from hocket.pictures.heat import heat, heats
from hocket.pictures.throughput import draw_throughput, stage

__all__ = ["draw_throughput", "gantt", "heat", "heats", "stage"]
