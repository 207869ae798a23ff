"""Other methods' implementations, behind the one contract of README.md."""
