"""What memory costs on this machine: measured, kept, and composed by the copy-transfer model (docs/memory.md)."""
