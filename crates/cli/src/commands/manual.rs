//! `linkproof completions` and `linkproof man`: what shells and manuals want to know of
//! the program.

use std::io::Write;
use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;
use linkproof::io;
use serde_json::json;

use crate::session::{Session, counted};

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

/// Print the manual page, or write those of all commands
///
/// Without --out it prints the page of the program; 'linkproof man | man -l -' shows it.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLE\n  \
    linkproof man > linkproof.1\n  \
    linkproof man --out ~/.local/share/man/man1")]
pub struct ManArgs {
    /// Folder to write a page to for the program, and one for each command
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs `completions`.
pub fn complete(
    args: &CompletionsArgs,
    mut program: Command,
    session: &Session,
) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program, "linkproof", &mut script);
    let text = String::from_utf8_lossy(&script);
    let json = json!({ "shell": args.shell.to_string(), "script": text });
    session.hand_over(&json, &script)
}

/// Runs `man`.
pub fn manual(args: &ManArgs, mut program: Command, session: &Session) -> anyhow::Result<()> {
    program.build();
    let Some(folder) = &args.out else {
        let page = page(&program)?;
        let json = json!({ "page": String::from_utf8_lossy(&page) });
        return session.hand_over(&json, &page);
    };
    let mut written = 0;
    let commands = program.get_subcommands();
    let commands = commands.filter(|command| command.get_name() != "help");
    for command in std::iter::once(&program).chain(commands) {
        let name = command.get_display_name();
        let name = name.unwrap_or_else(|| command.get_name());
        let page = page(command)?;
        let path = folder.join(format!("{name}.1"));
        io::write_file(&path, |file| file.write_all(&page))?;
        written += 1;
    }
    let out = folder.display().to_string();
    let words = format!("{} written to {out}", counted(written, "manual page"));
    session.finish(&json!({ "out": out, "pages": written }), &words)
}

fn page(command: &Command) -> std::io::Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    Ok(page)
}
