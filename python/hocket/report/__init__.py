"""Pictures of schedules and their simulations."""

from hocket.report.gantt import gantt
from hocket.report.utilisation import utilisation

__all__ = ["gantt", "utilisation"]
