"""Measuring which hosts share a bottleneck: what ``hocket network discover --measure`` does."""
