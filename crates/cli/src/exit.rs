//! How the program ends: exit codes, error messages and broken pipes, all here.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::CommandFactory;
use clap::error::ErrorKind;

use linkproof::error::{Style, plain};

use crate::cli::Cli;
use crate::config::InConfig;
use crate::session::Session;

/// The run failed.
pub const FAILED: u8 = 1;
/// Bad usage or bad input.
const BAD_INPUT: u8 = 2;
/// A signal asked for the end, as shells count it.
pub const STOPPED: u8 = 130;

/// Options that do not go together, or a value that cannot be.
#[derive(Debug)]
pub struct Usage(String);

impl Usage {
    /// An error with this message.
    pub fn new(message: impl Into<String>) -> Usage {
        Usage(message.into())
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// The end of a command.
pub fn after(result: anyhow::Result<()>) -> ExitCode {
    let Err(error) = result else {
        return ExitCode::SUCCESS;
    };
    // A reader that has seen enough, such as `head`, is no failure.
    if is_broken_pipe(&error) {
        return ExitCode::SUCCESS;
    }
    let known = error.downcast_ref::<linkproof::Error>();
    let bad_input = error.is::<Usage>()
        || error.is::<InConfig>()
        || known.is_some_and(linkproof::Error::is_bad_input);
    // The library's messages say themselves what the system said.
    say(&known.map_or_else(|| format!("{error:#}"), |known| known.in_style(Style::Cli)));
    ExitCode::from(match Session::is_stopped() {
        true => STOPPED,
        false if bad_input => BAD_INPUT,
        false => FAILED,
    })
}

/// Ends the program from any thread, whatever the others do, and leaves nothing
/// half done.
pub fn at_once(code: u8, message: &str) -> ! {
    linkproof::io::remove_unfinished();
    say(message);
    std::process::exit(code.into())
}

/// The end of a command line that did not parse, or that asked for help.
pub fn after_usage(error: &clap::Error) -> ExitCode {
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    ) {
        // Nothing is left to do when standard output is gone.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let command = command_typed();
        say(&format!(
            "no command was given; see '{command} --help' for all of them"
        ));
        return ExitCode::from(BAD_INPUT);
    }
    let text = error.render().to_string();
    let mut parts = text.split("\n\n").filter(|part| {
        let part = part.trim_start();
        !part.starts_with("Usage:") && !part.starts_with("For more information")
    });
    let message = parts.next().unwrap_or_default();
    let mut message = message
        .strip_prefix("error:")
        .unwrap_or(message)
        .trim()
        .to_owned();
    for tip in parts {
        message.push_str("; ");
        message.push_str(tip.trim());
    }
    message.push_str(&format!("; see '{} --help'", command_typed()));
    say(&message);
    ExitCode::from(BAD_INPUT)
}

/// The program and the command that was typed, if it is one.
fn command_typed() -> String {
    let commands = Cli::command();
    let mut typed = std::env::args_os()
        .skip(1)
        .filter_map(|word| word.into_string().ok());
    let known = typed.find(|word| commands.find_subcommand(word).is_some());
    known.map_or_else(
        || "linkproof".to_owned(),
        |command| format!("linkproof {command}"),
    )
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    if error.downcast_ref::<io::Error>().is_some_and(broken) {
        return true;
    }
    matches!(
        error.downcast_ref::<linkproof::Error>(),
        Some(linkproof::Error::Write { source, .. }) if broken(source)
    )
}

/// One paragraph on standard error.
fn say(message: &str) {
    let paragraph: Vec<&str> = message.split_whitespace().collect();
    let paragraph = paragraph.join(" ");
    // There is nowhere to say that standard error cannot be written.
    let _ = writeln!(io::stderr(), "error: {}", plain(&paragraph));
}
