"""What messages and memory cost: measured before and kept, or assumed."""
