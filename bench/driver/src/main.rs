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
mod load;
mod memory;
mod product;
mod step;

use std::io::{self, BufRead, Write};

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
    Load(load::Load),
}

fn main() -> Result<(), Failure> {
    if let Some(threads) = std::env::args().nth(1) {
        rayon::ThreadPoolBuilder::new()
            .num_threads(threads.parse()?)
            .build_global()?;
    }
    let mut loaded = exact::Loaded::default();
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let answer = answer(&line?, &mut loaded)
            .unwrap_or_else(|failure| json!({ "error": failure.to_string() }));
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn answer(line: &str, loaded: &mut exact::Loaded) -> Result<Value, Failure> {
    let mut answer = match serde_json::from_str(line)? {
        Command::Exact(work) => work.run(loaded)?,
        Command::Product(work) => work.run()?,
        Command::Steps(work) => work.run()?,
        Command::SampledOnce(work) => work.run()?,
        Command::Load(work) => work.run()?,
    };
    answer["peak_mb"] = json!(memory::megabytes("VmHWM:"));
    Ok(answer)
}
