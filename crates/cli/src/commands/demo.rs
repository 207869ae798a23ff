//! `linkproof demo`: what the robust scores do, shown on generated graphs.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use linkproof::data::features::Values;
use linkproof::io::{self, Field, FolderKind, OutputFolder};
use linkproof::params::ScoreKind;
use linkproof::{Error, Matrix};
use linkproof_lab::demo::{
    DATA_SETS, DemoSetting, SCORES, SETTINGS, params, run_setting, suspects,
};
use linkproof_pictures::drawing::{Panel, panels};
use serde_json::{Map, Value, json};

use crate::picture::write_drawing;
use crate::progress::Progress;
use crate::session::Session;

/// The file by which a folder is known to hold a demonstration.
const MARK: &str = "demo.json";
const PICTURE: &str = "picture.svg";
const SUSPECTS: usize = 5;

/// Show what robust scores do, on generated graphs, in seconds
///
/// Makes the synthetic graph of Okuno and Shimodaira (2019) twice, with false
/// links and with corrupted weights, fits it with the likelihood and with both
/// robust scores, and compares how well the clusters are found. Needs no input;
/// writes the data, the embeddings and pictures.
#[derive(Debug, Args)]
#[command(after_help = "EXAMPLE\n  linkproof demo --out linkproof-demo")]
pub struct DemoArgs {
    /// Folder to write; one that an earlier demo wrote, and that holds nothing
    /// else, is replaced
    #[arg(long, value_name = "DIR", default_value = "linkproof-demo")]
    out: PathBuf,
}

/// Runs the command.
pub fn run(args: &DemoArgs, session: &Session) -> anyhow::Result<()> {
    let clock = Instant::now();
    let seed = session.seed().unwrap_or(0);
    let folder = OutputFolder::create(&args.out, kind(), true)?;
    let progress = Progress::start(session, "fitting");
    let mut settings = Vec::new();
    for (place, setting) in SETTINGS.into_iter().enumerate() {
        let mut done = place as u64 * DATA_SETS;
        settings.push(run_setting(setting, seed, || {
            done += 1;
            progress.count(done, SETTINGS.len() as u64 * DATA_SETS, "data sets");
        })?);
    }
    progress.end();
    for setting in &settings {
        write_setting(&folder, setting)?;
    }
    let seconds = clock.elapsed().as_secs_f64();
    let json = to_json(&settings, &args.out, seed, seconds);
    io::write_file(folder.file(MARK), |file| {
        std::io::Write::write_all(file, format!("{json:#}\n").as_bytes())
    })?;
    folder.commit()?;
    session.finish(&json, &words(&settings, &args.out, seconds))
}

/// What the folder of a demonstration holds.
fn kind() -> FolderKind {
    let names = ["links.csv", "features.npy", "labels.csv", "suspects.csv"];
    let names = names.into_iter().chain([PICTURE]).map(str::to_owned);
    let names: Vec<String> = names.chain(SCORES.map(embeddings)).collect();
    let inner = |(name, _): &(&str, _)| {
        let folder = slug(name);
        let inner = names.iter().map(|file| format!("{folder}/{file}"));
        inner.collect::<Vec<_>>()
    };
    let files = SETTINGS.iter().flat_map(inner);
    FolderKind::new("a demonstration", [MARK.to_owned()], files)
}

fn slug(name: &str) -> String {
    name.replace(' ', "-")
}

fn embeddings(score: ScoreKind) -> String {
    format!("embeddings-{score}.npy")
}

/// The data, the embeddings by score, the suspects and the picture.
fn write_setting(folder: &OutputFolder, setting: &DemoSetting) -> anyhow::Result<()> {
    let inner = folder.file(&slug(setting.name));
    std::fs::create_dir(&inner).map_err(|source| Error::write(&inner, source))?;
    let data = &setting.example.data;
    io::write_links(inner.join("links.csv"), data.graph())?;
    if let Some(Matrix::Dense(dense)) = &data.views()[0].matrix
        && let Values::F64(values) = dense.values()
    {
        io::write_npy(
            inner.join("features.npy"),
            dense.n_rows(),
            dense.n_columns(),
            values,
        )?;
    }
    io::write_table(inner.join("labels.csv"), &["node", "label"], |rows| {
        for (node, &label) in setting.example.labels.iter().enumerate() {
            rows.row(&[Field::Whole(node as u64), Field::Whole(u64::from(label))])?;
        }
        Ok(())
    })?;
    let distrusted = suspects(setting, usize::MAX);
    io::write_table(
        inner.join("suspects.csv"),
        &["src", "dst", "weight", "mu", "trust", "influence", "false"],
        |rows| {
            for (verdict, is_false) in &distrusted {
                rows.row(&[
                    Field::Whole(verdict.src.into()),
                    Field::Whole(verdict.dst.into()),
                    Field::Real(verdict.weight),
                    Field::Real(verdict.mu),
                    Field::Real(verdict.trust),
                    Field::Real(verdict.influence),
                    Field::Whole(u64::from(*is_false)),
                ])?;
            }
            Ok(())
        },
    )?;
    for fit in &setting.fits {
        let path = inner.join(embeddings(fit.score));
        io::write_npy(
            path,
            fit.model.n_nodes(),
            fit.model.dim(),
            fit.model.embeddings(),
        )?;
    }
    let fits: Vec<Panel<'_>> = setting
        .fits
        .iter()
        .map(|fit| Panel {
            title: format!("{}: purity {:.2}", fit.score, fit.purity),
            points: fit.model.embeddings(),
            clusters: &setting.example.labels,
            links: distrusted
                .iter()
                .map(|(verdict, is_false)| (verdict.src, verdict.dst, *is_false))
                .collect(),
            names: Vec::new(),
        })
        .collect();
    let picture = panels(&format!("{} (false links red)", setting.name), 3, &fits);
    write_drawing(inner.join(PICTURE), &picture)?;
    Ok(())
}

fn to_json(settings: &[DemoSetting], out: &Path, seed: u64, seconds: f64) -> Value {
    let settings: Vec<Value> = settings
        .iter()
        .map(|setting| {
            let purity: Map<String, Value> = SCORES
                .iter()
                .zip(&setting.purity)
                .map(|(score, mean)| (score.name().to_owned(), json!(mean)))
                .collect();
            let links: Vec<Value> = suspects(setting, SUSPECTS)
                .iter()
                .map(|(verdict, is_false)| {
                    json!({
                        "src": verdict.src.to_string(), "dst": verdict.dst.to_string(),
                        "weight": verdict.weight, "mu": verdict.mu,
                        "trust": verdict.trust, "false": is_false,
                    })
                })
                .collect();
            json!({
                "name": setting.name, "xi": setting.noise.xi,
                "corrupted": setting.noise.corrupted, "corrupted_weight": setting.noise.weight,
                "purity": purity, "suspects": links,
            })
        })
        .collect();
    let fit = params(ScoreKind::Moment, seed);
    json!({
        "out": out.display().to_string(), "data_sets": DATA_SETS, "seed": seed,
        "ridge": fit.ridge(), "beta": fit.beta, "dim": fit.dim,
        "settings": settings, "seconds": seconds,
    })
}

fn words(settings: &[DemoSetting], out: &Path, seconds: f64) -> String {
    let mut words = String::new();
    let fit = params(ScoreKind::Moment, 0);
    let _ = writeln!(
        words,
        "Purity of the clusters found (mean and standard error over {DATA_SETS} graphs of 200 nodes;\n\
         linear map to 2 dimensions, ridge {}, beta {} for the robust scores)\n",
        fit.ridge(),
        fit.beta
    );
    let _ = writeln!(
        words,
        "{:24}{:>16}{:>16}{:>16}",
        "", "likelihood", "moment", "probability"
    );
    for setting in settings {
        let _ = write!(words, "{:24}", setting.name);
        for mean in &setting.purity {
            let cell = format!("{:.3} +- {:.3}", mean.mean, mean.standard_error);
            let _ = write!(words, "{cell:>16}");
        }
        words.push('\n');
    }
    for setting in settings {
        let _ = writeln!(
            words,
            "\nLinks that the probability fit trusts least, {} (first graph):",
            setting.name
        );
        for (verdict, is_false) in suspects(setting, SUSPECTS) {
            let _ = writeln!(
                words,
                "  {:>3} - {:<3}  weight {:>3}, expected {:.4}, trust {:<8.2e} {}",
                verdict.src,
                verdict.dst,
                verdict.weight,
                verdict.mu,
                verdict.trust,
                if is_false {
                    "false: joins two clusters"
                } else {
                    "true"
                }
            );
        }
    }
    let folder = out.display();
    let _ = write!(
        words,
        "\nWhat this shows: links that should not exist pull the likelihood astray, and beta > 0 holds up\n\
         (so would a larger ridge). Weights that are far too large ruin the likelihood and the moment\n\
         score alike; the probability score ignores them.\n\n\
         Data, embeddings and pictures are in {folder} ({seconds:.1} s). Next, on the same graph:\n  \
         linkproof fit --links {folder}/corrupted-weights/links.csv --features {folder}/corrupted-weights/features.npy \\\n    \
         --score probability --beta 0.5 --dim 2 --out model\n  \
         linkproof evaluate --embeddings model/embeddings.npy --labels {folder}/corrupted-weights/labels.csv"
    );
    words
}
