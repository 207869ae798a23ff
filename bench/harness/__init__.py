"""The benchmark: data, workers, timing and the report."""
