//! The options that every command has, put to use.

use std::io::{self, IsTerminal, Write};

use anyhow::Context;
use linkproof::Runtime;
use linkproof::engine::runtime::Monitor;
use linkproof::error::shown_line;
use linkproof::io::Checkpoint;
use linkproof_cuda::{Choice, Chosen, Opening};
use serde_json::Value;

use crate::cli::SharedArgs;
use crate::{memory, signals};

/// One run of the program.
#[derive(Debug)]
pub struct Session {
    seed: Option<u64>,
    device: Choice,
    quiet: bool,
    json: bool,
}

impl Session {
    /// Listens for interrupts, bounds memory, sets the number of threads, and sees
    /// that the machine has the instructions that were asked for.
    pub fn start(shared: &SharedArgs) -> anyhow::Result<Session> {
        signals::listen()?;
        memory::bound(shared.max_memory);
        if let Some(bytes) = shared.max_unpacked {
            linkproof::io::set_unpacked_limit(bytes);
        }
        linkproof::instructions()?;
        if let Some(threads) = shared.threads {
            rayon::ThreadPoolBuilder::new()
                .num_threads(usize::from(threads))
                .build_global()
                .with_context(|| format!("--threads {threads}: cannot start them"))?;
        }
        Ok(Session {
            seed: shared.seed,
            device: shared.device,
            quiet: shared.quiet,
            json: shared.json,
        })
    }

    /// Whether an interrupt has come.
    pub fn is_stopped() -> bool {
        signals::is_stopped()
    }

    /// The seed, if one was given.
    pub fn seed(&self) -> Option<u64> {
        self.seed
    }

    /// Begins to open a card that is asked for, while data are read.
    pub fn begin_device(&self) -> Opening {
        self.device.begin()
    }

    /// What computes fits of so many nodes; a card is named to the user.
    pub fn device(&self, n_nodes: usize) -> anyhow::Result<Chosen> {
        self.opened(self.begin_device(), n_nodes)
    }

    /// The same, begun before.
    pub fn opened(&self, mut begun: Opening, n_nodes: usize) -> anyhow::Result<Chosen> {
        let chosen = begun.open(n_nodes)?;
        if let (Some(card), false) = (chosen.card(), self.quiet) {
            eprintln!("computing on {}", card.name());
        }
        Ok(chosen)
    }

    /// The runtime of fits that a monitor looks at.
    pub fn runtime<'r>(&self, monitor: &'r dyn Monitor) -> Runtime<'r> {
        Runtime::watched_by(monitor).within(memory::known_bound())
    }

    /// The same for fits whose state is kept.
    pub fn kept_runtime<'r>(
        &self,
        monitor: &'r dyn Monitor,
        kept: Option<&'r Checkpoint>,
    ) -> Runtime<'r> {
        let runtime = self.runtime(monitor);
        match kept {
            Some(kept) => runtime.kept_by(kept),
            None => runtime,
        }
    }

    /// Whether another program reads the result.
    pub fn writes_json(&self) -> bool {
        self.json
    }

    /// Whether progress is wanted and can be seen.
    pub fn shows_progress(&self) -> bool {
        !self.quiet && io::stderr().is_terminal()
    }

    /// Says on standard error what a user should know before long work.
    pub fn warn(&self, what: &str) {
        if !self.quiet {
            eprintln!("warning: {}", shown_line(what));
        }
    }

    /// Closes a command whose result is a text for another program: the JSON object, or
    /// the text as it is, be it for a quiet session.
    pub fn hand_over(&self, json: &Value, text: &[u8]) -> anyhow::Result<()> {
        let mut out = io::stdout().lock();
        match self.json {
            true => writeln!(out, "{json}")?,
            false => out.write_all(text)?,
        }
        out.flush()?;
        Ok(())
    }

    /// Closes a command: the JSON object, or the words for a person.
    pub fn finish(&self, json: &Value, words: &str) -> anyhow::Result<()> {
        let mut out = io::stdout().lock();
        if self.json {
            writeln!(out, "{json}")?;
        } else if !self.quiet {
            // Words quote ids, which may be of any length and hold anything.
            for line in words.trim_end().split('\n') {
                writeln!(out, "{}", shown_line(line))?;
            }
        }
        out.flush()?;
        Ok(())
    }
}

/// The largest amount of memory that the program has held so far, in bytes,
/// where the system tells.
pub fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes * 1024)
}
