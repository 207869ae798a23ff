//! The robust fit on graphs whose classes are known, with false links of a known
//! kind.
//!
//! `cargo run --release -p linkproof-lab --example robust -- FOLDER [OPTION VALUE]..`
//!
//! Options: `--runs 1`, `--seed 0`, `--damage clean,u30,u90,d30,d90,w10x100,w50x10,w30x3`,
//! `--ridges 30,10,3,1`. Prints a line for each run: NMI (x 100) on a fifth of
//! the nodes of the plain embeddings, of the averages and of the recommended
//! ones, then the means over all five fifths (one fifth alone differs from the
//! next by several points); the AUC of belief; the share of false links, estimated and true; the
//! share of sound links among suspects at rates of .05, .1 and .2; the gate; the
//! ridge; the steps of all fits, seconds.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use linkproof_lab::contamination::Column;
use linkproof_lab::labelled::Labelled;
use linkproof_method::engine::runtime::{Event, Runtime};
use linkproof_method::measure::auc;
use linkproof_method::params::Params;
use linkproof_method::trust::judge::average::averages;
use linkproof_method::trust::judge::fits::{TOLERANCE, fit_links};
use linkproof_method::trust::robust::{Recipe, Robust, believed, fit_robust, walks_over};
use linkproof_method::{CheckedParams, Dataset, Error, Fit};

fn report(
    graph: &Labelled,
    name: &str,
    seed: u64,
    robust: &Robust,
    wrong: &HashSet<(u32, u32)>,
    (steps, seconds): (usize, f64),
) -> Result<(), Error> {
    let plain = clusters(graph, robust.model.embeddings(), seed)?;
    let averaged = clusters(graph, &robust.averaged, seed)?;
    let recommended = if robust.recommends_averages {
        averaged
    } else {
        plain
    };
    let links = &robust.judgement.links;
    let sound: Vec<bool> = links
        .iter()
        .map(|l| !wrong.contains(&(l.src, l.dst)))
        .collect();
    let beliefs: Vec<f64> = links.iter().map(|l| l.belief).collect();
    let area = auc(&beliefs, &sound).unwrap_or(f64::NAN);
    let truth = wrong.len() as f64 / links.len() as f64;
    let realised = [0.05, 0.1, 0.2].map(|rate| {
        let set = links
            .iter()
            .zip(&sound)
            .filter(|(l, _)| l.false_discovery_rate <= rate);
        let (mut size, mut sound) = (0.0, 0.0);
        for (_, is_sound) in set {
            size += 1.0;
            sound += if *is_sound { 1.0 } else { 0.0 };
        }
        format!("{:.2}/{size}", if size > 0.0 { sound / size } else { 0.0 })
    });
    let gate = robust.gate.told.map_or("none".to_owned(), |told| {
        format!(
            "{:.3}, regression {:.3}, vectors alone {:.3}",
            told.averaged_clusters / told.plain_clusters,
            told.averaged / told.plain,
            robust.vectors_alone().unwrap_or(f64::NAN)
        )
    });
    let tried: Vec<String> = robust
        .ridges
        .iter()
        .map(|t| format!("{}:{:.4}", t.ridge, t.auc))
        .collect();
    let walked: Vec<String> = robust
        .walk_ridges
        .iter()
        .map(|t| {
            let told = t.told;
            format!(
                "{}:{:.4}/{:.4},{:.4}/{:.4}",
                t.ridge,
                told.plain_each,
                told.averaged_each,
                told.plain_clusters,
                told.averaged_clusters
            )
        })
        .collect();
    let checks: Vec<String> = robust
        .judgement
        .checks
        .iter()
        .map(|c| {
            let rates: Vec<String> = c
                .rates
                .iter()
                .map(|r| format!("{:.2}:{:.2}", r.realised, r.found))
                .collect();
            format!("{:?} {:.2} {}", c.kind, c.mean_belief, rates.join(" "))
        })
        .collect();
    println!(
        "{} {name} {seed}: plain {:.1} averaged {:.1} recommended {:.1} | means {:.1} {:.1} {:.1} | \
         AUC {area:.3} | pi {:.3} true {truth:.3} | realised {} | gate {gate} | ridge {} [{}] {} [{}] auc {:.4}+-{:.4}{} unexplained {:.3} | {} | {steps} steps, {seconds:.0} s",
        graph.name,
        plain[0],
        averaged[0],
        recommended[0],
        plain[1],
        averaged[1],
        recommended[1],
        robust.judgement.share_false,
        realised.join(" "),
        robust.judge_ridge,
        tried.join(" "),
        robust.ridge,
        walked.join(" "),
        robust.judgement.auc_decoys,
        robust.judgement.auc_error,
        if robust.judgement.abstained {
            " ABSTAINED"
        } else {
            ""
        },
        robust.judgement.unexplained,
        checks.join(", "),
    );
    Ok(())
}

/// The same fit with every link believed, and the time of a plain fit.
fn all_believed(
    graph: &Labelled,
    data: &Dataset,
    params: &CheckedParams,
    robust: &Robust,
    recipe: &Recipe,
    seed: u64,
) -> Result<(), Error> {
    let clock = Instant::now();
    let (_, steps) = counted(|runtime| Fit::new(params).runtime(runtime).run(data))?;
    let seconds = clock.elapsed().as_secs_f64();
    let mut all = robust.judgement.clone();
    all.links.iter_mut().for_each(|link| link.belief = 1.0);
    let trusted = believed(data, &all)?;
    let walked = data.with_graph(walks_over(data, &trusted, recipe.walks)?);
    let with = robust.model.params().clone().check()?;
    let found = fit_links(&with, &walked, None, TOLERANCE, Runtime::default())?;
    let averaged = averages(&trusted.adjacency(), &found.y, params.dim, recipe.rounds);
    let plain = clusters(graph, &found.y, seed)?;
    let averaged = averaged.last().map_or(&[][..], Vec::as_slice);
    let averaged = clusters(graph, averaged, seed)?;
    println!(
        "{} clean {seed}, all links believed: plain {:.1} averaged {:.1} | means {:.1} {:.1}; a plain fit takes {steps} steps, {seconds:.1} s",
        graph.name, plain[0], averaged[0], plain[1], averaged[1],
    );
    Ok(())
}

/// Some work, and the steps of all its fits.
fn counted<T>(work: impl FnOnce(Runtime<'_>) -> Result<T, Error>) -> Result<(T, usize), Error> {
    let steps = AtomicUsize::new(0);
    let monitor = |event: Event<'_>| {
        if matches!(event, Event::Step { .. } | Event::Tick) {
            steps.fetch_add(1, Ordering::Relaxed);
        }
        true
    };
    let done = work(Runtime::watched_by(&monitor))?;
    Ok((done, steps.load(Ordering::Relaxed)))
}

/// NMI on the test nodes, and its mean over them and the other four fifths.
fn clusters(graph: &Labelled, y: &[f32], seed: u64) -> Result<[f64; 2], Error> {
    Ok([graph.test_nmi(y, seed)?, graph.mean_nmi(y, seed)?])
}

fn main() -> Result<(), Error> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().unwrap_or_default());
    let (mut runs, mut first) = (1u64, 0u64);
    let mut damages = "clean,u30,u90,d30,d90,w10x100,w50x10,w30x3".to_owned();
    let mut recipe = Recipe::default();
    while let (Some(option), Some(value)) = (arguments.next(), arguments.next()) {
        match option.as_str() {
            "--runs" => runs = value.parse().unwrap_or(1),
            "--seed" => first = value.parse().unwrap_or(0),
            "--damage" => damages = value,
            "--ridges" => {
                recipe.ridges = value.split(',').filter_map(|r| r.parse().ok()).collect();
            }
            _ => eprintln!("unknown option {option}"),
        }
    }
    let graph = Labelled::read(&folder)?;
    for name in damages.split(',') {
        for seed in first..first + runs {
            let damage = Column::named(name)?.damage;
            let made = damage.apply(&graph.data, &graph.labels, seed)?;
            let (data, wrong) = (made.data, made.false_links);
            let params = Params {
                seed,
                ..Params::default()
            };
            let clock = Instant::now();
            let params = params.check()?;
            let (robust, steps) = counted(|runtime| fit_robust(&params, &data, &recipe, runtime))?;
            let seconds = clock.elapsed().as_secs_f64();
            if name == "clean" {
                all_believed(&graph, &data, &params, &robust, &recipe, seed)?;
            }
            report(&graph, name, seed, &robust, &wrong, (steps, seconds))?;
        }
    }
    Ok(())
}
