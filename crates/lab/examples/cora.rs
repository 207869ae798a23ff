//! What is chosen and doubted without labels on Cora.
//!
//! `cargo run --release -p linkproof --example cora -- FOLDER select|select-unseen|audit [SEEDS]`
//!
//! FOLDER has `edges.csv`, `features.mtx` and `labels.csv`. Means and standard
//! errors over seeds; NMI (x 100) of k-means with 7 clusters on the test fifth
//! of the nodes. (A): fitted to all nodes; (B): to the others, test nodes
//! embedded from their data vectors alone. Labels only judge.

use std::error::Error;
use std::path::Path;

use linkproof_lab::contamination::{Contaminated, contaminate};
use linkproof_lab::labelled::{Labelled, rows_of};
use linkproof_lab::mean::Mean;
use linkproof_method::Runtime;
use linkproof_method::measure::auc;
use linkproof_method::model::folds::{Folds, HoldOut};
use linkproof_method::params::ScoreKind;
use linkproof_method::select::{Candidate, Search, candidates, select};
use linkproof_method::trust::audit::{Baseline, cross_fit, judge};
use linkproof_method::{CheckedParams, Dataset, Features, Fitted, Params, fit};
use rayon::prelude::*;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// NMI on the test rows of a model of all nodes.
fn judge_all(cora: &Labelled, model: &Fitted, seed: u64) -> Outcome<f64> {
    let test = cora.split(seed).test;
    let y = rows_of(model.embeddings(), model.dim(), &test);
    Ok(cora.nmi(&y, &test, seed)?)
}

/// NMI on the test rows, which the model has not seen.
fn judge_unseen(cora: &Labelled, model: &Fitted, unseen: &Features, seed: u64) -> Outcome<f64> {
    Ok(cora.nmi(&model.embed(unseen)?, &cora.split(seed).test, seed)?)
}

fn seeded(seed: u64) -> Params {
    Params {
        seed,
        ..Params::default()
    }
}

fn show(values: &[f64], digits: usize) -> String {
    let mean = Mean::of(values);
    format!("{:.digits$} ± {:.digits$}", mean.mean, mean.standard_error)
}

/// What one search led to.
struct Run {
    choice: Candidate,
    chosen: f64,
    plain: f64,
    candidates: Vec<f64>,
}

/// For each seed the NMI of every candidate and that of the chosen one.
fn selection(
    cora: &Labelled,
    seeds: u64,
    (hold_out, with_candidates): (HoldOut, bool),
    data: impl Fn(u64) -> Outcome<(Dataset, Option<Features>)> + Sync,
) -> Outcome<String> {
    let runs: Vec<Run> = (0..seeds)
        .into_par_iter()
        .map(|seed| {
            let (data, unseen) = data(seed)?;
            let base = seeded(seed);
            let search = Search {
                hold_out,
                ..Search::around(&base)
            };
            let judge = |params: &CheckedParams| -> Outcome<f64> {
                let model = fit(params, &data)?;
                match &unseen {
                    Some(unseen) => judge_unseen(cora, &model, unseen, seed),
                    None => judge_all(cora, &model, seed),
                }
            };
            let found = select(&base, &data, &search, Runtime::default())?;
            let chosen = judge(&found.chosen.params(&base).check()?)?;
            let plain = judge(&base.clone().check()?)?;
            let mut all = Vec::new();
            if with_candidates {
                all = candidates(&search.grid, &base)?
                    .par_iter()
                    .map(|(_, params)| judge(params))
                    .collect::<Outcome<Vec<f64>>>()?;
            }
            eprintln!("seed {seed}: {:?} NMI {chosen:.1}", found.chosen);
            Ok(Run {
                choice: found.chosen,
                chosen,
                plain,
                candidates: all,
            })
        })
        .collect::<Outcome<_>>()?;
    let column = |pick: &dyn Fn(&Run) -> f64| -> Vec<f64> { runs.iter().map(pick).collect() };
    let best = (0..runs[0].candidates.len())
        .map(|place| column(&|run| run.candidates[place]))
        .max_by(|a, b| Mean::of(a).mean.total_cmp(&Mean::of(b).mean));
    let likelihoods = runs
        .iter()
        .filter(|run| run.choice.score == ScoreKind::Likelihood);
    Ok(format!(
        "{} | {} | {} | likelihood {} of {seeds} times",
        show(&column(&|run| run.chosen), 1),
        best.map_or_else(|| "-".into(), |best| show(&best, 1)),
        show(&column(&|run| run.plain), 1),
        likelihoods.count()
    ))
}

const SELECTED: &str =
    "| Cora | chosen | best candidate | defaults of fit | choices |\n|---|---|---|---|---|";

fn run_select(cora: &Labelled, seeds: u64) -> Outcome<()> {
    println!("{SELECTED}");
    let all = |_| Ok((cora.data.clone(), None));
    println!(
        "| (A) | {} |",
        selection(cora, seeds, (HoldOut::Pairs, true), all)?
    );
    for (share, weight) in [(0.1, 100.0), (0.5, 10.0)] {
        let worse = |seed| {
            let worse = contaminate(&cora.data, &cora.labels, share, weight, seed)?;
            Ok((worse.data, None))
        };
        let row = selection(cora, seeds, (HoldOut::Pairs, false), worse)?;
        println!(
            "| (A), {}% more at weight {weight} | {row} |",
            100.0 * share
        );
    }
    Ok(())
}

fn run_select_unseen(cora: &Labelled, seeds: u64) -> Outcome<()> {
    println!("{SELECTED}");
    let some = |seed| {
        let training = cora.training(&cora.split(seed))?;
        Ok((training.data, Some(training.unseen)))
    };
    for (name, hold_out) in [
        ("(B)", HoldOut::Pairs),
        ("(B), --hold-out nodes", HoldOut::Nodes),
    ] {
        let row = selection(cora, seeds, (hold_out, true), some)?;
        println!("| {name} | {row} |");
    }
    Ok(())
}

fn run_audit(cora: &Labelled, seeds: u64) -> Outcome<()> {
    println!("| false links, AUC | audit | --cross-fit | cosine |\n|---|---|---|---|");
    for (share, weight) in [(0.3, 1.0), (0.9, 1.0), (0.1, 100.0), (0.5, 10.0)] {
        let runs: Vec<[f64; 3]> = (0..seeds)
            .into_par_iter()
            .map(|seed| {
                let worse = contaminate(&cora.data, &cora.labels, share, weight, seed)?;
                aucs(&worse, seed)
            })
            .collect::<Outcome<_>>()?;
        let column = |place: usize| {
            let values: Vec<f64> = runs.iter().map(|run| run[place]).collect();
            show(&values, 3)
        };
        println!(
            "| +{}% at weight {weight} | {} | {} | {} |",
            100.0 * share,
            column(0),
            column(1),
            column(2)
        );
    }
    Ok(())
}

fn aucs(worse: &Contaminated, seed: u64) -> Outcome<[f64; 3]> {
    let params = seeded(seed).check()?;
    let model = fit(&params, &worse.data)?;
    let folds = Folds::new(seed, 5)?;
    let plain = judge(&model, worse.data.graph().links());
    let crossed = cross_fit(&params, &worse.data, folds, &[], Runtime::default())?.verdicts;
    let is_false = |src: u32, dst: u32| worse.false_links.contains(&(src.min(dst), src.max(dst)));
    let mut found = [0.0; 3];
    for (found, verdicts) in found.iter_mut().zip([&plain, &crossed]) {
        let truth: Vec<bool> = verdicts.iter().map(|v| is_false(v.src, v.dst)).collect();
        let ranks: Vec<f64> = (0..verdicts.len()).map(|rank| -(rank as f64)).collect();
        *found = auc(&ranks, &truth)?;
    }
    let baseline = Baseline::new(&worse.data).ok_or("no data vectors")?;
    let truth: Vec<bool> = plain.iter().map(|v| is_false(v.src, v.dst)).collect();
    let cosine = |src, dst| -baseline.cosine(src, dst).unwrap_or(0.0);
    let cosines: Vec<f64> = plain.iter().map(|v| cosine(v.src, v.dst)).collect();
    found[2] = auc(&cosines, &truth)?;
    Ok(found)
}

fn main() -> Outcome<()> {
    let mut args = std::env::args().skip(1);
    let usage = "usage: cora FOLDER select|select-unseen|audit [SEEDS]";
    let cora = Labelled::read(Path::new(&args.next().ok_or(usage)?))?;
    let what = args.next().ok_or(usage)?;
    let seeds = args.next().map_or(Ok(8), |seeds| seeds.parse())?;
    match what.as_str() {
        "select" => run_select(&cora, seeds),
        "select-unseen" => run_select_unseen(&cora, seeds),
        "audit" => run_audit(&cora, seeds),
        _ => Err(usage.into()),
    }
}
