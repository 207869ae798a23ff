//! Every engine does what the trait says.

// A test may fail.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

#[path = "support/engines/mod.rs"]
mod engines;

use engines::Reference;
use linkproof_method::engine::{Backend, Cpu};

const BACKENDS: [(&str, &dyn Backend); 2] = [("cpu", &Cpu), ("reference", &Reference)];

fn each(check: fn(&dyn Backend)) {
    for (name, backend) in BACKENDS {
        eprintln!("{name}");
        check(backend);
    }
}

#[test]
fn values_and_gradients() {
    each(engines::values_and_gradients);
}

#[test]
fn sums_over_parts() {
    each(engines::sums_over_parts);
}

#[test]
fn estimates() {
    each(engines::estimates);
}

#[test]
fn first_order_steps() {
    each(engines::first_order_steps);
}

#[test]
fn loads() {
    each(engines::loads);
}

#[test]
fn resumes() {
    assert!(engines::resumes(&Cpu));
    assert!(!engines::resumes(&Reference), "plain loops tell nothing");
}
