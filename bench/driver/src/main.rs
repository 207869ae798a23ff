//! Times the library on request: a command in JSON a line on standard input,
//! an answer in JSON a line on standard output. The benchmark keeps one such
//! process beside those of its peers and calls them in turn, so that starting
//! up is in no figure.
//!
//! ```text
//! {"do": "exact", "embeddings": "y.npy", "links": "links.csv", "gamma": 4.0,
//!  "score": "moment", "beta": 0.5}
//! {"seconds": 0.81, "value": 1234.5, "before_mb": 31.2, "peak_mb": 44.0}
//! ```

mod exact;
mod product;
mod step;

use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use linkproof::Dataset;
use linkproof::io::read_links;
use serde::Deserialize;
use serde_json::{Value, json};

/// Whatever ends a command: its message is the answer.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A piece of work.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
enum Command {
    Exact(exact::Exact),
    Product(product::Product),
    Steps(step::Steps),
    SampledOnce(step::SampledOnce),
    /// Reading links into a graph, as the command line does.
    Load {
        links: PathBuf,
    },
}

fn main() -> Result<(), Failure> {
    if let Some(threads) = std::env::args().nth(1) {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads.parse()?)
            .build_global()?;
    }
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let answer =
            answer(&line?).unwrap_or_else(|failure| json!({ "error": failure.to_string() }));
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn answer(line: &str) -> Result<Value, Failure> {
    let mut answer = match serde_json::from_str(line)? {
        Command::Exact(work) => work.run()?,
        Command::Product(work) => work.run()?,
        Command::Steps(work) => work.run()?,
        Command::SampledOnce(work) => work.run()?,
        Command::Load { links } => load(&links)?,
    };
    answer["peak_mb"] = json!(megabytes("VmHWM:"));
    Ok(answer)
}

/// Reads and joins once.
fn load(links: &Path) -> Result<Value, Failure> {
    let clock = Instant::now();
    let data = Dataset::from_links(read_links(links, &Default::default())?)?;
    let seconds = clock.elapsed().as_secs_f64();
    let links = data.graph().n_links();
    Ok(json!({ "seconds": seconds, "value": links, "nodes": data.n_nodes() }))
}

/// A field of the process's status, in megabytes, where the system tells:
/// `VmHWM:` is the most it has held, `VmRSS:` what it holds.
fn megabytes(field: &str) -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kilobytes: f64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes / 1024.0)
}
