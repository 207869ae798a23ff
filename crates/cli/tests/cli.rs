//! Drives the real program in temporary folders.

// A test may fail.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic
)]

#[path = "cli/audit.rs"]
mod audit;
#[path = "cli/bad_input.rs"]
mod bad_input;
#[path = "cli/bad_usage.rs"]
mod bad_usage;
#[path = "cli/bootstrap.rs"]
mod bootstrap;
#[path = "cli/check.rs"]
mod check;
#[path = "cli/check_inputs.rs"]
mod check_inputs;
#[path = "cli/commands.rs"]
mod commands;
#[path = "cli/datasets.rs"]
mod datasets;
#[path = "cli/ends.rs"]
mod ends;
#[path = "cli/fit.rs"]
mod fit;
#[path = "cli/inspect.rs"]
mod inspect;
#[path = "cli/kept.rs"]
mod kept;
#[path = "cli/kinds.rs"]
mod kinds;
#[path = "cli/lab.rs"]
mod lab;
#[path = "cli/messages.rs"]
mod messages;
#[path = "cli/names.rs"]
mod names;
#[path = "cli/objective.rs"]
mod objective;
#[path = "cli/report.rs"]
mod report;
#[path = "cli/reproduce.rs"]
mod reproduce;
#[path = "cli/robust.rs"]
mod robust;
#[path = "cli/safety.rs"]
mod safety;
#[path = "cli/select.rs"]
mod select;
#[path = "cli/server.rs"]
// Shared with the tests of downloads, which need more of it.
#[allow(dead_code)]
mod server;
#[path = "cli/signals.rs"]
mod signals;
#[path = "cli/signed.rs"]
mod signed;
#[path = "cli/starved.rs"]
mod starved;
#[path = "cli/threads.rs"]
mod threads;
#[path = "cli/update.rs"]
mod update;
#[path = "cli/views.rs"]
mod views;
