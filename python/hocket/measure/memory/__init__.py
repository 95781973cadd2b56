"""Costs of memory on this machine, by the copy-transfer model: docs/algorithms.md."""
