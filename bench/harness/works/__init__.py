"""The pieces of work, in the order of the report."""
