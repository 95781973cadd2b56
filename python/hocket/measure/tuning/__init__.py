"""Results that runs have learned about their calls: read them, and pass them on to MPI libraries."""
