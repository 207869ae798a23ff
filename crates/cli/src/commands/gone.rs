//! Commands of earlier versions, and what replaces them.

use clap::Args;

use crate::exit::Usage;

/// Gone: 'fit --robust' smooths where that helps, 'embed' embeds unseen nodes
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLE\n  \
    linkproof fit --links links.csv --features x.npy --robust --out model\n  \
    linkproof embed --model model --features new.csv --links ties.csv --out new.npy")]
pub struct SmoothArgs {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    _given: Vec<String>,
}

/// Says what to use instead of `smooth`.
pub fn smooth() -> anyhow::Result<()> {
    Err(Usage::new(
        "'linkproof smooth' is gone. Use 'linkproof fit --robust': it smooths embeddings over \
         believed links if the smoothing check says so. For unseen nodes use 'linkproof embed'",
    )
    .into())
}
