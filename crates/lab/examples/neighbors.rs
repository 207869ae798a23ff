//! Do the same few nodes fill the lists of all others?
//!
//! `cargo run --release -p linkproof-lab --example neighbors -- FOLDER.. [--seed 0]`
//!
//! FOLDER is a graph as `linkproof datasets fetch` makes it. Prints a table in Markdown for
//! each, of plain fits with the defaults, and with offsets: the share of the lists of ten in
//! which the most frequent node stands (largest), the share of nodes that stand in no list
//! (never), the share of a node's links, ten at most, that are in its list (links), and the
//! share of a list that is of the node's class (class). CSLS: twice the similarity less the
//! mean similarity of either node to its ten nearest.

use std::path::Path;

use linkproof_lab::labelled::Labelled;
use linkproof_method::model::{Nearness, Query};
use linkproof_method::{Error, Fitted, Params, fit};
use linkproof_numeric::math;
use rayon::prelude::*;

const TOP: usize = 10;

type Lists = Vec<Vec<usize>>;

/// The lists by a measure that the program offers.
fn offered(model: &Fitted, by: Nearness) -> Result<Lists, Error> {
    let queries: Vec<Query<'_>> = (0..model.n_nodes()).map(|row| model.query(row)).collect();
    let found = model.nearest(&queries, TOP, None, Some(by))?;
    let rows = found.lists.into_iter();
    Ok(rows
        .map(|list| list.into_iter().map(|near| near.row).collect())
        .collect())
}

/// The largest entries of a row, but for its own.
fn largest(row: usize, values: &[f64]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..values.len()).filter(|&place| place != row).collect();
    places.sort_by(|&a, &b| values[b].total_cmp(&values[a]).then(a.cmp(&b)));
    places.truncate(TOP);
    places
}

/// The lists by any similarity; `evened`: by CSLS of it.
fn lists(n: usize, evened: bool, similar: impl Fn(usize, usize) -> f64 + Sync) -> Lists {
    let values = |i: usize| -> Vec<f64> { (0..n).map(|j| similar(i, j)).collect() };
    let mean = |i: usize| {
        let values = values(i);
        let near = largest(i, &values);
        near.iter().map(|&j| values[j]).sum::<f64>() / near.len().max(1) as f64
    };
    let means: Vec<f64> = match evened {
        true => (0..n).into_par_iter().map(mean).collect(),
        false => vec![0.0; n],
    };
    let list = |i: usize| {
        let mut values = values(i);
        values
            .iter_mut()
            .zip(&means)
            .for_each(|(value, mean)| *value = 2.0 * *value - mean);
        largest(i, &values)
    };
    (0..n).into_par_iter().map(list).collect()
}

/// The four shares of the table.
fn shares(graph: &Labelled, lists: &Lists) -> [f64; 4] {
    let n = lists.len();
    let mut times = vec![0usize; n];
    lists.iter().flatten().for_each(|&node| times[node] += 1);
    let most = times.iter().copied().max().unwrap_or(0);
    let never = times.iter().filter(|&&times| times == 0).count();
    let adjacency = graph.data.graph().adjacency();
    let (mut found, mut linked, mut same, mut listed) = (0, 0, 0, 0);
    for (row, list) in lists.iter().enumerate() {
        let (ends, _) = adjacency.row(row);
        linked += ends.len().min(TOP);
        found += list
            .iter()
            .filter(|&&node| ends.contains(&(node as u32)))
            .count();
        same += list
            .iter()
            .filter(|&&node| graph.labels[node] == graph.labels[row])
            .count();
        listed += list.len();
    }
    let share = |part: usize, all: usize| 100.0 * part as f64 / all.max(1) as f64;
    [
        share(most, n),
        share(never, n),
        share(found, linked),
        share(same, listed),
    ]
}

fn row(graph: &Labelled, name: &str, lists: &Lists) {
    let [largest, never, links, class] = shares(graph, lists);
    println!("| {name} | {largest:.1}% | {never:.0}% | {links:.0}% | {class:.0}% |");
}

fn table(graph: &Labelled, seed: u64) -> Result<(), Error> {
    println!(
        "\n{}\n\n| | largest | never | links | class |\n|---|---|---|---|---|",
        graph.name
    );
    let params = Params {
        seed,
        ..Params::default()
    };
    let model = fit(&params.clone().check()?, &graph.data)?;
    row(
        graph,
        "expected weight",
        &offered(&model, Nearness::Weight)?,
    );
    row(graph, "share", &offered(&model, Nearness::Share)?);
    row(graph, "cosine", &offered(&model, Nearness::Cosine)?);
    let length = |i: usize| product(&model, i, i).sqrt().max(f64::MIN_POSITIVE);
    let lengths: Vec<f64> = (0..model.n_nodes()).map(length).collect();
    let cosine = |i: usize, j: usize| product(&model, i, j) / (lengths[i] * lengths[j]);
    row(
        graph,
        "CSLS of the cosine",
        &lists(model.n_nodes(), true, cosine),
    );
    let log_weight = |i: usize, j: usize| math::ln(model.mu(i, j).max(f64::MIN_POSITIVE));
    row(
        graph,
        "CSLS of the log weight",
        &lists(model.n_nodes(), true, log_weight),
    );
    let offsets = Params {
        offsets: true,
        ..params
    };
    let model = fit(&offsets.check()?, &graph.data)?;
    row(
        graph,
        "with offsets: expected weight",
        &offered(&model, Nearness::Weight)?,
    );
    // Without offsets the order is that of inner products.
    let without = lists(model.n_nodes(), false, |i, j| product(&model, i, j));
    row(graph, "with offsets: without them", &without);
    row(
        graph,
        "with offsets: share",
        &offered(&model, Nearness::Share)?,
    );
    Ok(())
}

fn product(model: &Fitted, i: usize, j: usize) -> f64 {
    let pairs = model.row(i).iter().zip(model.row(j));
    pairs.map(|(&a, &b)| f64::from(a) * f64::from(b)).sum()
}

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let (mut folders, mut seed) = (Vec::new(), 0);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--seed" => seed = arguments.next().and_then(|it| it.parse().ok()).unwrap_or(0),
            folder => folders.push(folder.to_owned()),
        }
    }
    for folder in folders {
        table(&Labelled::read(Path::new(&folder))?, seed)?;
    }
    Ok(())
}
