//! `linkproof score`: expected weights of pairs.

use std::path::PathBuf;

use clap::Args;
use linkproof::data::ids::{Ids, Side};
use linkproof::error::quote;
use linkproof::io::{self, Field, ListedPair, PairList};
use linkproof::io::{ViewFile, load};
use linkproof::model::{Expected, Point, Spread};
use linkproof::text::counted;
use linkproof::{Error, Fitted};
use serde_json::json;

use crate::exit::Usage;
use crate::session::Session;
use crate::unseen::{Embedded, UnseenArgs};

/// Give the expected weight of pairs of nodes
///
/// Writes CSV src,dst,p_link,size,mu in the order of --pairs, with the ids as they
/// stand there. An id that the model has not seen is looked up in --features and
/// embedded.
///
///   p_link  chance of a link
///   size    mean weight of a link, given that there is one
///   mu      expected weight, p_link times size
///
/// For a model that was fitted with --bootstrap three more columns follow, for pairs of
/// its own nodes: log_mu_error, the standard error of the logarithm of mu, and mu_low
/// and mu_high, between which mu is in 90 of 100 cases.
///
/// A robust fit has a law of sizes, told by the weights of believed links, and so has
/// one with --weights binary where some weights are negative; there size and mu may be
/// negative too. Other fits read weights (as --weights makes them) as Poisson counts of
/// mean mu.
#[derive(Debug, Args)]
#[command(
    verbatim_doc_comment,
    after_help = "EXAMPLE\n  \
    linkproof score --model model --pairs pairs.csv --out scores.csv\n  \
    linkproof score --model model --pairs pairs.csv --features new.csv --out scores.csv"
)]
pub struct ScoreArgs {
    /// Model folder
    #[arg(long, value_name = "DIR")]
    model: PathBuf,
    /// Pairs: CSV or TSV src,dst, with or without header; also .gz, .zst
    #[arg(long, value_name = "FILE")]
    pairs: PathBuf,
    /// Data vectors of unseen nodes; NAME=FILE for a view; may be repeated
    #[arg(long, value_name = "[NAME=]FILE")]
    features: Vec<ViewFile>,
    /// CSV file to write: src,dst,p_link,size,mu
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    unseen: UnseenArgs,
}

/// Runs the command.
pub fn run(args: &ScoreArgs, session: &Session) -> anyhow::Result<()> {
    args.unseen.check(&args.features)?;
    let files = args.unseen.files(&args.model, &args.features);
    files.reads([&args.pairs]).writes([&args.out]).check()?;
    let model = load(&args.model)?.model;
    let list = io::read_pairs(&args.pairs)?;
    let unseen = args.unseen.embed(&model, &args.features)?;
    let sides = [Side::Source, Side::Target];
    let is_node = |id: &str| {
        let found = |side| find(&model, &unseen, side, id).is_some();
        sides.into_iter().any(found)
    };
    let list = list.without_header(is_node);
    for (file, part) in args.features.iter().zip(&unseen) {
        check_ids(&model, file, part)?;
    }
    let nodes = [Side::Source, Side::Target].map(|side| {
        (0..list.names().len())
            .map(|row| find(&model, &unseen, side, list.names().name(row)))
            .collect()
    });
    let all = list
        .pairs()
        .iter()
        .map(|pair| expected(args, &model, &list, &nodes, pair))
        .collect::<Result<Vec<Expected>, Error>>()?;
    let mut columns = vec!["src", "dst", "p_link", "size", "mu"];
    if model.replicates().is_some() {
        columns.extend(["log_mu_error", "mu_low", "mu_high"]);
    }
    if model.has_names() {
        columns.extend(["src_name", "dst_name"]);
    }
    io::write_table(&args.out, &columns, |rows| {
        for (pair, found) in list.pairs().iter().zip(&all) {
            let ends = [pair.src, pair.dst].map(|row| list.names().name(row as usize));
            let numbers = [found.p_link, found.size, found.mu].map(Field::Real);
            let [src, dst] = ends.map(Field::Text);
            let mut row = vec![src, dst];
            row.extend(numbers);
            if model.replicates().is_some() {
                let place = |side: Side, end: usize| model.ids().row_on(side, ends[end]);
                let known = place(Side::Source, 0)
                    .zip(place(Side::Target, 1))
                    .and_then(|(i, j)| model.spread(i as usize, j as usize));
                row.extend(spread(known));
            }
            if model.has_names() {
                let sides = [Side::Source, Side::Target].into_iter();
                let rows = sides
                    .zip(ends)
                    .map(|(side, id)| model.ids().row_on(side, id));
                let name = |row: Option<u32>| row.and_then(|row| model.title(row as usize));
                row.extend(rows.map(|row| Field::Text(name(row).unwrap_or(""))));
            }
            rows.row(&row)?;
        }
        Ok(())
    })?;
    let out = args.out.display().to_string();
    let words = format!("{} scored, written to {out}", counted(all.len(), "pair"));
    session.finish(&json!({ "out": out, "pairs": all.len() }), &words)
}

/// The standard error of the logarithm of an expected weight, and what this is between
/// in 90 of 100 cases; empty where it is not known.
fn spread(known: Option<Spread>) -> [Field<'static>; 3] {
    match known {
        Some(found) => {
            let (low, high) = found.weights();
            [found.error, low, high].map(Field::Real)
        }
        None => ["", "", ""].map(Field::Text),
    }
}

/// Rows of unseen nodes without names count from 0, as those of the training
/// nodes may; refuse them where every one would be taken for a training node.
fn check_ids(model: &Fitted, file: &ViewFile, part: &Embedded) -> Result<(), Usage> {
    let Ids::Rows(n) = part.ids else {
        return Ok(());
    };
    if (0..n).any(|row| model.ids().row(&row.to_string()).is_none()) {
        return Ok(());
    }
    Err(Usage::new(format!(
        "--features {}: its rows have the ids 0 to {}, which are ids of training nodes; \
         expected ids for unseen nodes: --nodes FILE",
        file.path.display(),
        n - 1
    )))
}

/// The node of an id that stands on a side of a pair.
fn find<'a>(model: &'a Fitted, unseen: &'a [Embedded], side: Side, id: &str) -> Option<Point<'a>> {
    if let Some(row) = model.ids().row_on(side, id) {
        return Some(model.point(row as usize));
    }
    let has_sides = model.ids().sides().is_some();
    let here = |part: &&Embedded| {
        let view = &model.views()[part.encoded.view];
        !has_sides || view.name == side.name()
    };
    unseen.iter().filter(here).find_map(|part| {
        let row = part.ids.row(id)?;
        Some(part.encoded.point(row as usize))
    })
}

fn expected(
    args: &ScoreArgs,
    model: &Fitted,
    list: &PairList,
    nodes: &[Vec<Option<Point<'_>>>; 2],
    pair: &ListedPair,
) -> Result<Expected, Error> {
    let node = |side: Side, row: u32| {
        nodes[side as usize][row as usize].ok_or_else(|| {
            let found = format!("node {}", quote(list.names().name(row as usize)));
            let expected = "nodes of the model or of --features";
            Error::input(&args.pairs, pair.line, found, expected)
        })
    };
    let (a, b) = (node(Side::Source, pair.src)?, node(Side::Target, pair.dst)?);
    if !model.takes_part(a.view, b.view) {
        let [d, e] =
            [a.view.min(b.view), a.view.max(b.view)].map(|view| model.views()[view].name.as_str());
        let found = format!("nodes of the views '{d}' and '{e}'");
        let expected = "a pair of views that took part in the fit (--view-pairs)";
        return Err(Error::input(&args.pairs, pair.line, found, expected));
    }
    Ok(model.expected(a, b))
}
