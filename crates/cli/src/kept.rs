//! `--checkpoint` and `--resume`: work that was cut short goes on later.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use clap::Args;
use linkproof::io::{Checkpoint, Pace};
use linkproof::{Dataset, Error, Params};
use serde_json::{Map, Value, json};

use crate::args::{quoted, real};
use crate::exit::Usage;
use crate::session::Session;
use crate::signals;

/// When the state of work is kept, and where.
#[derive(Debug, Args)]
#[command(next_help_heading = "Going on later")]
pub struct KeptArgs {
    /// Folder to keep the state in, so that a run that is cut short can go on; it
    /// goes when the run is done [default: for a fit OUT.checkpoint, once it has run
    /// for five minutes]
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    checkpoint: Option<PathBuf>,
    /// Seconds between two states [default: 300]
    #[arg(long, value_name = "SECONDS", value_parser = real, allow_negative_numbers = true)]
    every: Option<f64>,
    /// Go on from the state in a folder: the same data and settings, to the same
    /// result as if nothing had happened
    #[arg(long, value_name = "DIR")]
    resume: Option<PathBuf>,
}

/// What the result of some work depends on.
pub fn work(what: &str, params: &Params, data: &Dataset, more: &str) -> Map<String, Value> {
    Map::from_iter([
        ("linkproof".to_owned(), env!("CARGO_PKG_VERSION").into()),
        ("work".to_owned(), what.into()),
        ("settings".to_owned(), json!(params)),
        ("data".to_owned(), data.digest().into()),
        ("more".to_owned(), more.into()),
    ])
}

impl KeptArgs {
    /// The folder that is written, if it is known.
    fn folder(&self, usual: Option<PathBuf>) -> Option<PathBuf> {
        self.resume.clone().or(self.checkpoint.clone()).or(usual)
    }

    /// Refuses a folder inside the one that is written as a whole.
    pub fn check(&self, out: &Path) -> anyhow::Result<()> {
        let here = |path: &Path| std::path::absolute(path);
        if let Some(folder) = self.folder(None)
            && here(&folder)?.starts_with(here(out)?)
        {
            return Err(Usage::new(format!(
                "{}: a checkpoint cannot be inside the folder that is written; name one beside it",
                folder.display()
            ))
            .into());
        }
        if let Some(every) = self.every {
            Pace::every(every)?;
        }
        Ok(())
    }

    /// The folder, for some work; none where none was named and none is usual.
    pub fn open(
        &self,
        usual: Option<PathBuf>,
        work: Map<String, Value>,
        session: &Session,
    ) -> anyhow::Result<Option<Checkpoint>> {
        let pace = match (self.every, &self.checkpoint, &self.resume) {
            (Some(every), ..) => Pace::every(every)?,
            (None, None, None) => Pace::default(),
            (None, ..) => Pace {
                first: std::time::Duration::ZERO,
                ..Pace::default()
            },
        };
        let Some(folder) = self.folder(usual) else {
            return Ok(None);
        };
        let kept = match &self.resume {
            Some(folder) => Checkpoint::resume(folder, work, pace)?,
            None => {
                if Checkpoint::is_there(&folder) {
                    session.warn(&format!(
                        "{} holds what a run kept that was cut short: to go on with it, stop this \
                         one and add --resume {0}",
                        quoted(&folder.display().to_string())
                    ));
                }
                Checkpoint::begin(&folder, work, pace)?
            }
        };
        signals::goes_on_from(&folder, &how_to_go_on(&folder));
        Ok(Some(kept))
    }
}

/// What to type to go on.
fn how_to_go_on(folder: &Path) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut typed = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    while let Some(word) = typed.next() {
        match word.as_str() {
            "--checkpoint" | "--resume" => drop(typed.next()),
            word if word.starts_with("--checkpoint=") || word.starts_with("--resume=") => {}
            word => words.push(quoted(word)),
        }
    }
    let folder = quoted(&folder.display().to_string());
    format!(
        "what was done is kept; go on with: {} --resume {folder}",
        words.join(" ")
    )
}

/// Says how to go on where work was interrupted that can.
pub fn told(error: anyhow::Error) -> anyhow::Error {
    match (error.downcast_ref::<Error>(), signals::way_on()) {
        (Some(Error::Interrupted { step }), Some(way_on)) => {
            anyhow!("stopped by the user after step {step}; {way_on}")
        }
        _ => error,
    }
}
