//! The `linkproof` command.

mod args;
mod catalogue;
mod cli;
mod commands;
mod config;
mod data;
mod download;
mod exit;
mod inputs;
mod judged;
mod judging;
mod kept;
mod labels;
mod memory;
mod nodes;
mod picture;
mod progress;
mod robust;
mod search;
mod session;
mod settings;
mod signals;
mod suspects;
mod unseen;
mod vectors;

use std::process::ExitCode;

#[global_allocator]
static MEMORY: memory::Bounded = memory::Bounded;

fn main() -> ExitCode {
    match cli::Cli::read() {
        Ok(cli) => exit::after(cli.run()),
        Err(error) => exit::after_usage(&error),
    }
}
