//! `linkproof neighbors`: the nodes that are near a node.

mod listing;

use std::borrow::Cow;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use linkproof::data::ids::Side;
use linkproof::error::{quote, shown};
use linkproof::io::{self, ViewFile, load};
use linkproof::model::{Nearness, Neighbors, Query};
use linkproof::{Error, Fitted};
use rayon::prelude::*;

use crate::exit::Usage;
use crate::nodes::named_by;
use crate::progress::Progress;
use crate::session::Session;
use crate::unseen::{Embedded, UnseenArgs};
use listing::{Listing, finish};

/// Find the nearest nodes of a node
///
/// Prints a table of the nearest training nodes of each node that was asked for, the
/// nearest first, or writes it with --out as CSV node,neighbor,rank,mu. What follows is
/// share or cosine where neighbors are near by that, stability for a model that was
/// fitted with --bootstrap (the share of its replicates that saw both nodes in which the
/// neighbor is among as many nearest), and name, what the neighbor is called, where the
/// model knows.
///
/// What neighbors are near by:
///
///   cosine  how alike the embeddings are (those of embeddings.npy): 1 is the same
///           direction, 0 nothing in common
///   weight  the weight of a link that the model expects, mu. Popular nodes are near
///           very many
///   share   of all the weight that is expected to come to the neighbor, the part that
///           comes from this node: popular nodes are near few
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "EXAMPLE\n  \
    linkproof neighbors --model model --node 17\n  \
    linkproof neighbors --model model --node 17 --by weight --top 5 --out neighbors.csv\n  \
    linkproof neighbors --model model --all --by cosine --out neighbors.csv\n  \
    linkproof neighbors --model model --features new.npy --out neighbors.csv"
)]
pub struct NeighborsArgs {
    /// Model folder
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    /// Training node to start from, by its id, or by its name where no other has it; may
    /// be repeated
    #[arg(long, value_name = "ID", required_unless_present_any = ["features", "node_list", "all"])]
    node: Vec<String>,
    /// Training nodes to start from: a file of ids, one a line or in the first column. A
    /// first line that is no id is a header
    #[arg(long, value_name = "FILE", conflicts_with = "node")]
    node_list: Option<PathBuf>,
    /// Start from every training node
    #[arg(long, conflicts_with_all = ["node", "node_list"])]
    all: bool,
    /// Data vectors of unseen nodes to start from; NAME=FILE for a view
    #[arg(long, value_name = "[NAME=]FILE", conflicts_with_all = ["node", "node_list", "all"])]
    features: Vec<ViewFile>,
    /// What neighbors are near by [default: cosine where they are printed, or share where
    /// the similarity is signed; weight with --out or --json; cosine for a pair of views that took no
    /// part in the fit]
    #[arg(long, value_name = "MEASURE")]
    by: Option<Nearness>,
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
    /// Column of the model's nodes.csv to show beside ids [default: name, if there is one]
    #[arg(long, value_name = "COLUMN")]
    name: Option<String>,
    /// CSV file to write: node,neighbor,rank,mu
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
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
struct Start<'a> {
    id: Cow<'a, str>,
    query: Query<'a>,
}

/// Runs the command.
pub fn run(args: &NeighborsArgs, session: &Session) -> anyhow::Result<()> {
    args.unseen.check(&args.features)?;
    let files = args.unseen.files(&args.model, &args.features);
    files.reads(&args.node_list).writes(&args.out).check()?;
    let model = named_by(load(&args.model)?.model, args.name.as_deref())?;
    check_direction(args, &model)?;
    let within = args.within.as_deref();
    let within = within.map(|name| within_view(&model, name)).transpose()?;
    let unseen = args.unseen.embed(&model, &args.features)?;
    let starts = if args.features.is_empty() {
        training_starts(args, &model)?
    } else {
        unseen_starts(args, &model, &unseen)?
    };
    let progress = Progress::start(session, "looking for neighbors");
    let found = nearest(
        args,
        args.out.is_none() && !session.writes_json(),
        &model,
        &starts,
        within,
        &progress,
    );
    progress.end();
    let found = found?;
    let stable = |(start, list): (&Start<'_>, &Vec<_>)| {
        let rows: Vec<usize> = list
            .iter()
            .map(|near: &linkproof::model::Neighbor| near.row)
            .collect();
        model.stability(start.query.row?, &rows)
    };
    // Replicates know expected weights.
    let stable: Vec<Option<Vec<f64>>> = match found.by {
        Nearness::Weight => starts.par_iter().zip(&found.lists).map(stable).collect(),
        _ => vec![None; starts.len()],
    };
    let listing = Listing {
        model: &model,
        starts: &starts,
        found: &found,
        stable: &stable,
    };
    finish(args, session, &listing)
}

/// Refuses a direction where there is none to choose.
fn check_direction(args: &NeighborsArgs, model: &Fitted) -> Result<(), Usage> {
    let why = match (args.direction, model.ids().sides()) {
        (Some(_), None) => {
            "links of this model have none; expected a model of 'fit --directed' or 'fit \
             --bipartite'"
        }
        (Some(_), Some(sides)) if !sides.same && !args.features.is_empty() => {
            "the view of unseen nodes tells it in a model of 'fit --bipartite'; leave it out"
        }
        _ => return Ok(()),
    };
    Err(Usage::new(format!("--direction: {why}")))
}

/// The neighbours of nodes of any views. Files and other programs get the order that
/// models are made for, people the one that shows what is alike.
fn nearest(
    args: &NeighborsArgs,
    for_people: bool,
    model: &Fitted,
    starts: &[Start<'_>],
    within: Option<usize>,
    progress: &Progress,
) -> anyhow::Result<Neighbors> {
    let mut views: Vec<usize> = starts.iter().map(|start| start.query.point.view).collect();
    views.sort_unstable();
    views.dedup();
    // Of several views all must be near by the same.
    let is_fitted = |&view: &usize| within.is_none_or(|within| model.takes_part(view, within));
    let usual = match (views.iter().all(is_fitted), for_people) {
        (false, _) => Nearness::Cosine,
        (true, false) => Nearness::Weight,
        // Where unlike nodes are linked, those that are alike are others.
        (true, true) if model.negative() > 0 => Nearness::Share,
        (true, true) => Nearness::Cosine,
    };
    let by = args.by.unwrap_or(usual);
    let mut lists = vec![Vec::new(); starts.len()];
    let mut before = 0;
    for view in views {
        let here = |place: &usize| starts[*place].query.point.view == view;
        let places: Vec<usize> = (0..starts.len()).filter(here).collect();
        let queries: Vec<Query<'_>> = places.iter().map(|&place| starts[place].query).collect();
        let after = |done: usize| {
            progress.count((before + done) as u64, starts.len() as u64, "nodes");
            !Session::is_stopped()
        };
        let top = args.top as usize;
        let found = model.nearest_watched(&queries, top, within, Some(by), &after)?;
        before += places.len();
        for (place, list) in places.into_iter().zip(found.lists) {
            lists[place] = list;
        }
    }
    Ok(Neighbors { by, lists })
}

/// The view that neighbours are to be of.
fn within_view(model: &Fitted, name: &str) -> Result<usize, Error> {
    model.view(Some(name)).map_err(|error| match error {
        Error::Param {
            accepted, given, ..
        } => Error::argument("within", accepted, given),
        other => other,
    })
}

fn training_starts<'a>(args: &NeighborsArgs, model: &'a Fitted) -> anyhow::Result<Vec<Start<'a>>> {
    let start = |row: usize| Start {
        id: model.ids().name(row),
        query: model.query(row),
    };
    if args.all {
        let rows = (0..model.n_nodes()).filter(|row| is_asked(args, model, *row));
        return Ok(rows.map(start).collect());
    }
    let row = |id: &str| {
        let row = match args.direction {
            Some(direction) => model.ids().row_on(direction.side(), id),
            None => model.ids().row(id),
        };
        row.map_or_else(|| by_name(args, model, id), |row| Ok(row as usize))
    };
    let Some(path) = &args.node_list else {
        let rows = args.node.iter().map(|id| -> anyhow::Result<Start<'a>> {
            let why = |why| format!("--node {}: {why}", shown(id));
            Ok(start(row(id).map_err(|it| Usage::new(why(it)))?))
        });
        return rows.collect();
    };
    let mut starts = Vec::new();
    let list = io::read_id_list(path)?;
    for (place, listed) in list.iter().enumerate() {
        match row(&listed.id) {
            Ok(row) => starts.push(start(row)),
            // A header.
            Err(_) if place == 0 && list.len() > 1 => {}
            Err(_) => {
                let found = format!("node {}", quote(&listed.id));
                let expected = format!("an id of {}", args.model.join("nodes.csv").display());
                return Err(Error::input(path, listed.line, found, expected).into());
            }
        }
    }
    Ok(starts)
}

/// Whether a search of all nodes starts from a row: a node that is a source and a target
/// is asked for once.
fn is_asked(args: &NeighborsArgs, model: &Fitted, row: usize) -> bool {
    let side = args.direction.map(Direction::side);
    match model.ids().sides() {
        Some(sides) => {
            let of = sides.place(row).0;
            side.map_or(!sides.same || of == Side::Source, |side| of == side)
        }
        None => true,
    }
}

/// The row of the only node of a name, or why there is none, and what is expected.
fn by_name(args: &NeighborsArgs, model: &Fitted, name: &str) -> Result<usize, String> {
    const LISTED: usize = 5;
    let called = |row: &usize| model.title(*row) == Some(name) && is_asked(args, model, *row);
    let rows: Vec<usize> = (0..model.n_nodes()).filter(called).collect();
    let nodes = args.model.join("nodes.csv");
    let why = match rows.as_slice() {
        [row] => return Ok(*row),
        [] => "no such node".to_owned(),
        rows => {
            let ids = rows
                .iter()
                .take(LISTED)
                .map(|&row| quote(&model.ids().name(row)));
            let ids: Vec<String> = ids.collect();
            let more = if rows.len() > LISTED { ", ..." } else { "" };
            format!(
                "{} nodes are called so ({}{more})",
                rows.len(),
                ids.join(", ")
            )
        }
    };
    Err(format!("{why}; expected an id of {}", nodes.display()))
}

fn unseen_starts<'a>(
    args: &NeighborsArgs,
    model: &Fitted,
    unseen: &'a [Embedded],
) -> Result<Vec<Start<'a>>, Usage> {
    let rows = |part| (0..Embedded::len(part)).map(move |row| (part, row));
    // A node that is a source and a target is asked for once.
    let side = args.direction.unwrap_or(Direction::Out).side();
    let asked = |part: &&Embedded| {
        !model.is_directed() || model.views()[part.encoded.view].name == side.name()
    };
    let starts = unseen.iter().filter(asked).flat_map(rows);
    let starts = starts.map(|(part, row)| Start {
        id: part.ids.name(row),
        query: Query {
            point: part.encoded.point(row),
            recommended: part.recommended(row),
            row: None,
        },
    });
    let starts: Vec<Start<'_>> = starts.collect();
    if starts.is_empty() {
        let view = side.name();
        return Err(Usage::new(format!(
            "--direction: found no data vectors of the view '{view}' to start from; expected \
             --features FILE, of sources and targets alike"
        )));
    }
    Ok(starts)
}
