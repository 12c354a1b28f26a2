"""Which cells are missing, and how they are run: here, in several processes, or on a cluster."""
