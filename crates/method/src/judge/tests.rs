//! The judge on small graphs.
