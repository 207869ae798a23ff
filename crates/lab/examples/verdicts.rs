//! What the verdict says of graphs whose classes are known, and what classes say.
//!
//! `cargo run --release -p linkproof-lab --example verdicts -- [OPTION VALUE].. [FOLDER]..`
//!
//! FOLDER is a graph as `linkproof datasets fetch` makes it; without one the planted
//! graphs are tried, with `--planted yes` both are. `--seed 0` seeds graphs, damage and
//! fits; `--damage clean,u90` is the damage of folders. Prints two rows of Markdown for
//! each graph, a robust fit's and a plain fit's, as soon as they are known.

use std::io::Write;
use std::path::Path;

use linkproof_lab::labelled::Labelled;
use linkproof_lab::trials::{Planted, Spoken, Trial};
use linkproof_method::Error;

const HEADER: &str = "\
| graph | fit | in short | false links, estimated | between classes (weight) | put in (weight) | embeddings | data vectors | right |
|---|---|---|---|---|---|---|---|---|";

fn percent(of: [f64; 2]) -> String {
    let [links, weight] = of.map(|share| format!("{:.0}%", 100.0 * share));
    match links == weight {
        true => links,
        false => format!("{links} ({weight})"),
    }
}

fn row(trial: &Trial, fit: &str, said: &Spoken) -> String {
    let estimated = said
        .share_false
        .map_or("-".to_owned(), |share| format!("{:.0}%", 100.0 * share));
    let alone = trial.links_alone.filter(|_| fit == "robust");
    let alone = alone.map_or(String::new(), |nmi| format!(" (links alone {nmi:.0})"));
    let put_in = match trial.put_in[0] > 0.0 {
        true => percent(trial.put_in),
        false => String::new(),
    };
    let right = match trial.is_right(said) {
        Some(true) => "yes",
        Some(false) => "**no**",
        None => "",
    };
    format!(
        "| {} | {fit} | {} | {estimated} | {} | {put_in} | {:.0}{alone} | {:.0} | {right} |",
        trial.name,
        said.in_short(),
        percent(trial.across),
        said.nmi,
        trial.vectors,
    )
}

fn try_out(graph: &Labelled, damage: &[&str], seed: u64) -> Result<(), Error> {
    for damage in damage {
        let trial = Trial::run(graph, damage, seed)?;
        println!("{}", row(&trial, "robust", &trial.robust));
        println!("{}", row(&trial, "plain", &trial.plain));
        // A row that is known is shown, also where the output is a file.
        let _ = std::io::stdout().flush();
    }
    Ok(())
}

fn main() -> Result<(), Error> {
    let (mut seed, mut damage, mut with_planted) = (0, "clean,u90".to_owned(), false);
    let (mut folders, mut only) = (Vec::new(), None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().unwrap_or_default();
        match argument.as_str() {
            "--seed" => seed = value().parse().unwrap_or(0),
            "--damage" => damage = value(),
            "--planted" => {
                with_planted = true;
                only = Some(value()).filter(|name| name != "yes");
            }
            folder => folders.push(folder.to_owned()),
        }
    }
    println!("{HEADER}");
    let damage: Vec<&str> = damage.split(',').collect();
    for folder in &folders {
        try_out(&Labelled::read(Path::new(folder))?, &damage, seed)?;
    }
    if with_planted || folders.is_empty() {
        for planted in Planted::ALL {
            if only.as_deref().is_none_or(|name| name == planted.name()) {
                try_out(&planted.make(seed)?, planted.damage(), seed)?;
            }
        }
    }
    Ok(())
}
