"""What we ask: which cases to compute, and how results compare."""
