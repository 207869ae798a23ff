//! Commands of earlier versions, and what replaces them.

use clap::Args;

use crate::exit::Usage;

/// What replaces `smooth`.
pub const SMOOTH: &str = "'linkproof smooth' is gone. Use 'linkproof fit --robust': it smooths \
                          embeddings over believed links if the smoothing check says so. For \
                          unseen nodes use 'linkproof embed'";
/// What replaces `man`.
pub const MAN: &str = "'linkproof man' is gone. Use 'linkproof --help' and 'linkproof COMMAND \
                       --help', which have the same text";

/// Gone: says what to use instead
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLE\n  linkproof fit --help")]
pub struct GoneArgs {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    _given: Vec<String>,
}

/// Refuses the command, with what to use instead.
pub fn refused(instead: &'static str) -> anyhow::Result<()> {
    Err(Usage::new(instead).into())
}
