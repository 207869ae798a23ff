//! The options that every command has, put to use.

use std::io::{self, IsTerminal, Write};

use anyhow::Context;
use linkproof::Runtime;
use linkproof::data::graph::LinkCounts;
use linkproof::engine::runtime::Monitor;
use linkproof::error::{quote, shown_line};
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

/// A number of things in words: `1 node`, `2 nodes`. The plural `s` goes to
/// the first word.
pub fn counted(n: usize, one: &str) -> String {
    if n == 1 {
        return format!("1 {one}");
    }
    match one.split_once(' ') {
        Some((word, rest)) => format!("{n} {word}s {rest}"),
        None => format!("{n} {one}s"),
    }
}

/// A text in lines, behind what stands before its first word; the other lines begin
/// below that word.
pub fn wrapped(before: &str, text: &str) -> String {
    const WIDTH: usize = 90;
    let indent = " ".repeat(before.chars().count());
    let (mut lines, mut line) = (String::new(), before.to_owned());
    for word in text.split_whitespace() {
        let length = line.chars().count();
        if length + 1 + word.chars().count() > WIDTH && length > indent.len() {
            lines.push_str(&line);
            lines.push('\n');
            line.clone_from(&indent);
        }
        line.push(' ');
        line.push_str(word);
    }
    lines + &line
}

/// How many things there are of each kind that there is any of, in words.
pub fn counted_kinds(kinds: &[(usize, impl AsRef<str>)]) -> String {
    let kinds = kinds.iter().filter(|(count, _)| *count > 0);
    let kinds: Vec<String> = kinds
        .map(|(count, what)| counted(*count, what.as_ref()))
        .collect();
    kinds.join(", ")
}

/// A number with three figures that matter, as the page of a model writes it.
pub fn figure(x: f64) -> String {
    const TINY: f64 = 1e-4;
    let size = x.abs();
    match size {
        _ if x.is_nan() => "-".to_owned(),
        0.0 => "0".to_owned(),
        // Weights and counts as they are.
        ..1e7 if x.fract() == 0.0 => format!("{x}"),
        ..TINY if x > 0.0 => format!("<{TINY}"),
        ..TINY => format!(">-{TINY}"),
        1e7.. => format!("{x:.2e}"),
        1000.0.. => format!("{x:.0}"),
        _ => {
            let places = (0..7).find(|&places| size * 10f64.powi(places) >= 99.95);
            let text = format!("{x:.*}", places.unwrap_or(7) as usize);
            match text.contains('.') {
                true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
                false => text,
            }
        }
    }
}

/// The kinds of links that were read and not used, and the header that was one of them.
pub fn left_out(read: LinkCounts, header: &str) -> Vec<(usize, String)> {
    let header = format!(
        "first line, {}, taken for a header as no line below names its nodes (if it is a link, put \
         src,dst above it)",
        quote(header)
    );
    let others = [
        (read.columns, "column beside src, dst and weight"),
        (read.zero, "link of weight zero"),
        (read.self_links, "self-link"),
        (read.merged, "merged repeat"),
    ];
    let others = others.map(|(count, what)| (count, what.to_owned()));
    [(read.headers, header)].into_iter().chain(others).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short_and_right() {
        for (x, expected) in [
            (0.0, "0"),
            (100.0, "100"),
            (1234.0, "1234"),
            (2.345_67, "2.35"),
            (12.345_6, "12.3"),
            (99.96, "100"),
            (12_345.6, "12346"),
            (0.004_56, "0.00456"),
            (-0.25, "-0.25"),
            (1e-9, "<0.0001"),
            (-1e-9, ">-0.0001"),
            (2.5e12, "2.50e12"),
            (f64::INFINITY, "inf"),
            (f64::NAN, "-"),
        ] {
            assert_eq!(figure(x), expected);
        }
    }

    #[test]
    fn long_texts_are_broken_between_words() {
        assert_eq!(wrapped("  -", "short"), "  - short");
        let text = wrapped("  -", &"word ".repeat(30));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("  - word") && lines[1].starts_with("    word"));
        assert!(
            lines
                .iter()
                .all(|line| line.len() <= 90 && !line.ends_with(' '))
        );
        assert_eq!(text.matches("word").count(), 30);
        // A word that is too long stands alone.
        assert_eq!(wrapped("  -", &"x".repeat(200)).lines().count(), 1);
    }
}
