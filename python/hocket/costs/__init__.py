"""Costs of messages and memory: measured before and kept, or assumed."""
