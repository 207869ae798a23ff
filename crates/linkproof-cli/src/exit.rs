//! How the program ends: exit codes, error messages and broken pipes, all here.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The run failed.
const FAILED: u8 = 1;
/// Bad usage or bad input.
const BAD_INPUT: u8 = 2;

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
    let bad_input = error.is::<Usage>() || known.is_some_and(linkproof::Error::is_bad_input);
    say(&format!("{error:#}"));
    ExitCode::from(if bad_input { BAD_INPUT } else { FAILED })
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
    if let Some(command) = command_of(error) {
        message.push_str(&format!("; see '{command} --help'"));
    }
    say(&message);
    ExitCode::from(BAD_INPUT)
}

/// The command whose usage was violated, from the usage line.
fn command_of(error: &clap::Error) -> Option<String> {
    let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) else {
        return Some("linkproof".to_owned());
    };
    let usage = usage.to_string();
    let words = usage.split_whitespace().skip(1);
    let command: Vec<&str> = words
        .take_while(|word| !word.starts_with(['-', '[', '<']))
        .collect();
    Some(command.join(" ")).filter(|command| !command.is_empty())
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
    // There is nowhere to say that standard error cannot be written.
    let _ = writeln!(io::stderr(), "error: {}", paragraph.join(" "));
}
