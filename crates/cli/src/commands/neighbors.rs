//! `linkproof neighbors`: the nodes with the largest expected weights.

use std::borrow::Cow;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use linkproof::Fitted;
use linkproof::data::ids::Side;
use linkproof::error::shown;
use linkproof::io::load;
use linkproof::io::{self, Field};
use linkproof::model::{Neighbor, Point};
use rayon::prelude::*;
use serde_json::json;

use crate::args::FeatureFile;
use crate::exit::Usage;
use crate::session::{Session, counted};
use crate::unseen::{Embedded, UnseenArgs};

/// Find the nearest nodes by expected weight
///
/// Writes CSV node,neighbor,rank,mu: for each node that was asked for, its
/// nearest training nodes, the nearest first with rank 1. For a model that was fitted
/// with --bootstrap a column stability follows: the share of its replicates that saw
/// both nodes in which the neighbor is among as many nearest.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLE\n  \
    linkproof neighbors --model model --node 17 --top 5 --out neighbors.csv\n  \
    linkproof neighbors --model model --features new.npy --out neighbors.csv")]
pub struct NeighborsArgs {
    /// Model folder
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    /// Training node to start from; may be repeated
    #[arg(long, value_name = "ID", required_unless_present = "features")]
    node: Vec<String>,
    /// Data vectors of unseen nodes to start from; NAME=FILE for a view
    #[arg(long, value_name = "[NAME=]FILE", conflicts_with = "node")]
    features: Vec<FeatureFile>,
    /// Only neighbors of this view
    #[arg(long, value_name = "V")]
    within: Option<String>,
    /// In a model of directed links: out, the nodes that links lead to, or in, those that
    /// they come from [default: out]
    #[arg(long, value_name = "WAY", value_enum)]
    direction: Option<Direction>,
    /// How many neighbors to list for each node
    #[arg(long, value_name = "N", default_value = "10", value_parser = clap::value_parser!(u32).range(1..))]
    top: u32,
    /// CSV file to write: node,neighbor,rank,mu
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    unseen: UnseenArgs,
}

/// Which way links are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Direction {
    Out,
    In,
}

impl Direction {
    /// The side of links that a search starts from.
    fn side(self) -> Side {
        match self {
            Direction::Out => Side::Source,
            Direction::In => Side::Target,
        }
    }
}

/// Where a search starts.
struct Query<'a> {
    name: Cow<'a, str>,
    point: Point<'a>,
    /// The row of a training node, which is no neighbor of itself.
    row: Option<usize>,
}

/// Runs the command.
pub fn run(args: &NeighborsArgs, session: &Session) -> anyhow::Result<()> {
    let files = args.unseen.files(&args.model, &args.features);
    files.writes([&args.out]).check()?;
    let model = load(&args.model)?.model;
    if args.direction.is_some() && model.ids().sides().is_none() {
        let message = "--direction: links of this model have none; expected a model of 'fit \
                       --directed' or 'fit --bipartite'";
        return Err(Usage::new(message).into());
    }
    let within = args.within.as_deref();
    let within = within.map(|name| model.view(Some(name))).transpose()?;
    let unseen = args.unseen.embed(&model, &args.features)?;
    let queries = if args.node.is_empty() {
        unseen_queries(args, &model, &unseen)
    } else {
        training_queries(args, &model)?
    };
    let found: Vec<Vec<Neighbor>> = queries
        .par_iter()
        .map(|query| model.neighbors(query.point, args.top as usize, query.row, within))
        .collect::<Result<_, _>>()?;
    let stable = |(query, found): (&Query<'_>, &Vec<Neighbor>)| {
        let rows: Vec<usize> = found.iter().map(|neighbor| neighbor.row).collect();
        model.stability(query.row?, &rows)
    };
    let stable: Vec<Option<Vec<f64>>> = queries.par_iter().zip(&found).map(stable).collect();
    let mut columns = vec!["node", "neighbor", "rank", "mu"];
    columns.extend(stable.iter().any(Option::is_some).then_some("stability"));
    io::write_table(&args.out, &columns, |rows| {
        for ((query, neighbors), stable) in queries.iter().zip(&found).zip(&stable) {
            for (place, neighbor) in neighbors.iter().enumerate() {
                let name = model.ids().name(neighbor.row);
                let mut row = vec![
                    Field::Text(&query.name),
                    Field::Text(&name),
                    Field::Whole(place as u64 + 1),
                    Field::Real(neighbor.mu),
                ];
                row.extend(stable.as_ref().map(|shares| Field::Real(shares[place])));
                rows.row(&row)?;
            }
        }
        Ok(())
    })?;
    let out = args.out.display().to_string();
    let n: usize = found.iter().map(Vec::len).sum();
    let words = format!(
        "{} of {}, written to {out}",
        counted(n, "neighbor"),
        counted(queries.len(), "node")
    );
    let json = json!({ "out": out, "nodes": queries.len(), "neighbors": n });
    session.finish(&json, &words)
}

fn training_queries<'a>(
    args: &'a NeighborsArgs,
    model: &'a Fitted,
) -> Result<Vec<Query<'a>>, Usage> {
    args.node
        .iter()
        .map(|id| {
            let row = match args.direction {
                Some(direction) => model.ids().row_on(direction.side(), id),
                None => model.ids().row(id),
            };
            let row = row.ok_or_else(|| {
                let nodes = args.model.join("nodes.csv");
                let nodes = nodes.display();
                Usage::new(format!(
                    "--node {}: no such node; expected an id of {nodes}",
                    shown(id)
                ))
            })? as usize;
            Ok(Query {
                name: id.into(),
                point: model.point(row),
                row: Some(row),
            })
        })
        .collect()
}

fn unseen_queries<'a>(
    args: &NeighborsArgs,
    model: &Fitted,
    unseen: &'a [Embedded],
) -> Vec<Query<'a>> {
    let rows = |part| (0..Embedded::len(part)).map(move |row| (part, row));
    // A node that is a source and a target is asked for once.
    let side = args.direction.unwrap_or(Direction::Out).side();
    let asked = |part: &&Embedded| {
        !model.is_directed() || model.views()[part.encoded.view].name == side.name()
    };
    unseen
        .iter()
        .filter(asked)
        .flat_map(rows)
        .map(|(part, row)| Query {
            name: part.ids.name(row),
            point: part.encoded.point(row),
            row: None,
        })
        .collect()
}
