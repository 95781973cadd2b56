"""Pictures of schedules and their simulations."""

from hocket.report.gantt import gantt
from hocket.report.heat import heat, heats
from hocket.report.throughput import draw_throughput, stage
from hocket.report.utilisation import utilisation

__all__ = ["draw_throughput", "gantt", "heat", "heats", "stage", "utilisation"]
