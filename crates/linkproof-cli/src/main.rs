//! The `linkproof` command.

fn main() {}
