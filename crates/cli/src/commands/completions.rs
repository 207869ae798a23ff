//! `linkproof completions`: what shells want to know of the program.

use clap::{Args, Command};
use clap_complete::Shell;
use serde_json::json;

use crate::session::Session;

/// Print what a shell needs to complete commands and options
///
/// Prints a script for the shell on standard output.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLE\n  \
    linkproof completions bash > ~/.local/share/bash-completion/completions/linkproof\n  \
    linkproof completions zsh > ~/.zfunc/_linkproof\n  \
    linkproof completions fish > ~/.config/fish/completions/linkproof.fish")]
pub struct CompletionsArgs {
    /// Shell to complete for
    #[arg(value_name = "SHELL", value_enum)]
    shell: Shell,
}

/// Runs the command.
pub fn run(args: &CompletionsArgs, mut program: Command, session: &Session) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program, "linkproof", &mut script);
    let text = String::from_utf8_lossy(&script);
    let json = json!({ "shell": args.shell.to_string(), "script": text });
    session.hand_over(&json, &script)
}
