//! Reading links into a graph, as the command line does.

use std::path::PathBuf;
use std::time::Instant;

use linkproof::Dataset;
use linkproof::io::read_links;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::Failure;

/// A file of links.
#[derive(Debug, Deserialize)]
pub struct Load {
    links: PathBuf,
}

impl Load {
    /// Reads and joins once.
    pub fn run(&self) -> Result<Value, Failure> {
        let clock = Instant::now();
        let data = Dataset::from_links(read_links(&self.links, &Default::default())?)?;
        let seconds = clock.elapsed().as_secs_f64();
        let links = data.graph().n_links();
        Ok(json!({ "seconds": seconds, "value": links, "nodes": data.n_nodes() }))
    }
}
