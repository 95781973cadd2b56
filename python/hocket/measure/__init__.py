"""Measurements with ranks: exchanges, messages, memory; what programs send, what runs have learned."""
