"""What runs have learned about their calls: reading it, and telling MPI libraries of it."""
