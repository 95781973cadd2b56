"""Keys that scripts may rely on: ``hocket plan … --json`` prints at least these."""

CONTRACT = [
    "algorithm",
    "hosts",
    "ranks",
    "messages",
    "phases",
    "bound_phases",
    "ratio",
    "bound_seconds",
    "predicted_seconds",
    "prediction",
    "contention_free",
    "complete",
    "waits",
    "waits_before_reduction",
    "plan_seconds",
    "verify_seconds",
    "peak_rss_bytes",
]
