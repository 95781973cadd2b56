"""Pictures of schedules and their simulations."""

from hocket.plots.gantt import gantt
from hocket.plots.heat import heat, heats
from hocket.plots.throughput import draw_throughput, stage
from hocket.plots.utilisation import utilisation

__all__ = ["draw_throughput", "gantt", "heat", "heats", "stage", "utilisation"]
