//! The judge on planted designs: what it promises, and what becomes of it.

use super::designs::{Design, Promise};
use super::job::{Experiment, Job, Place, Reading, Row, Table};
use super::judged::{self, AUC, CAUGHT, DUPLICATES, ERROR, ESTIMATE, FLAGGED, HIGH, HOLDS, TRUTH};
use linkproof_method::engine::runtime::Runtime;
use linkproof_method::error::Result;
use linkproof_method::judge::{Check, JudgeSpec, Judgment, judge};

const DESIGNS: &str = "designs";
const CHECKS: &str = "checks";
const PROMISES: &str = "promises";

/// Links that a person checks, and in how many draws for each graph.
const CHECKED: usize = 30;
const DRAWS: u64 = 10;

const ERROR_CHECKED: &str = "error of the estimate after 30 checks";
const COVERED: &str = "draws in which Low to High covers the truth";
const LEAST_ERROR: &str = "error of the estimate before";
const KEPT: &str = "kept";

/// What is promised, by design.
fn promise(promise: Promise) -> &'static str {
    match promise {
        Promise::Holds => "High holds if links are false at random",
        Promise::NotAtRandom => "High holds if links are not false at random (not promised)",
        Promise::Clean => "no contradiction if no link is false",
        Promise::Abstains => "the judge abstains if links are random",
    }
}

const PROMISED: [Promise; 4] = [
    Promise::Holds,
    Promise::NotAtRandom,
    Promise::Clean,
    Promise::Abstains,
];

/// A job for each design and run.
pub fn experiment(runs: u64, seed: u64) -> Experiment<'static> {
    let designs = Design::all();
    let tables = tables(&designs, runs);
    let mut jobs = Vec::new();
    for (number, design) in (0..).zip(designs) {
        for run in 0..runs {
            let (design, seed) = (design.clone(), seed.wrapping_add(run));
            jobs.push(Job {
                key: format!("{}-run{run}", design.name),
                cost: 1.0,
                work: Box::new(move |runtime| readings(number, &design, run, seed, runtime)),
            });
        }
    }
    Experiment { jobs, tables }
}

fn readings(
    number: u64,
    design: &Design,
    run: u64,
    seed: u64,
    runtime: Runtime<'_>,
) -> Result<Vec<Reading>> {
    let (data, is_false) = design.make(seed)?;
    let spec = JudgeSpec {
        seed,
        test: false,
        ..JudgeSpec::default()
    };
    let judgment = judge(&data, &spec, runtime)?;
    let found = judged::measures(&judgment, &is_false)?;
    let of = |name: &str| found.iter().find(|(row, _)| *row == name).map(|it| it.1);
    let kept = match design.promise() {
        Promise::Holds | Promise::NotAtRandom => of(HOLDS),
        Promise::Clean => of(judged::CONTRADICTED).map(|x| 1.0 - x),
        Promise::Abstains => of(judged::ABSTAINED),
    };
    let mut readings = Vec::new();
    // Designs are the rows here: there are many of them.
    let place = |table, column| Place { table, column, run };
    for (column, value) in &found {
        readings.push(place(DESIGNS, column).reading(&design.name, *value));
    }
    // All designs are in one cell there.
    let all = Place {
        run: number << 32 | run,
        ..place(PROMISES, KEPT)
    };
    readings.extend(kept.map(|kept| all.reading(promise(design.promise()), kept)));
    if design.promise() != Promise::Abstains && !judgment.facts.abstained {
        let [error, covered] = after_checks(&judgment, &is_false, seed);
        let before = of(ERROR).into_iter().map(|error| (LEAST_ERROR, error));
        for (column, value) in before.chain([(ERROR_CHECKED, error), (COVERED, covered)]) {
            readings.push(place(CHECKS, column).reading(&design.name, value));
        }
    }
    Ok(readings)
}

/// The mean error of the estimate after checks, and the share of draws in which the interval
/// holds the truth.
fn after_checks(judgment: &Judgment, is_false: &[bool], seed: u64) -> [f64; 2] {
    let n_false = is_false.iter().filter(|&&it| it).count();
    let truth = n_false as f64 / is_false.len() as f64;
    let mut sums = [0.0; 2];
    for draw in 0..DRAWS {
        let sample = judgment.sample(CHECKED, seed.wrapping_mul(DRAWS).wrapping_add(draw));
        let check = |&at: &usize| Check {
            src: judgment.links[at].src,
            dst: judgment.links[at].dst,
            real: !is_false[at],
        };
        let checks: Vec<Check> = sample.iter().map(check).collect();
        let mut checked = judgment.clone();
        checked.recalibrate(&checks);
        if let Some(share) = checked.facts.share {
            sums[0] += (share.estimate.unwrap_or(0.5) - truth).abs();
            sums[1] += f64::from(u8::from(share.low <= truth && truth <= share.high));
        }
    }
    sums.map(|sum| sum / DRAWS as f64)
}

fn tables(designs: &[Design], runs: u64) -> Vec<Table> {
    let mut tables = Vec::new();
    let rows: Vec<Row> = designs.iter().map(|it| Row::new(&it.name)).collect();
    let mut add = |name: &str, caption: String, runs, columns: &[&str], rows| {
        tables.push(Table {
            name: name.to_owned(),
            caption,
            digits: 3,
            runs,
            columns: columns.iter().map(|&name| name.to_owned()).collect(),
            rows,
            ..Table::default()
        });
    };
    for kind in PROMISED {
        let of_kind = designs.iter().filter(|it| it.promise() == kind);
        let graphs = of_kind.count() as u64 * runs;
        let caption = format!("Promises over all designs and runs ({graphs} graphs).");
        add(
            PROMISES,
            caption,
            graphs,
            &[KEPT],
            vec![Row::new(promise(kind))],
        );
    }
    let columns = [
        TRUTH,
        AUC,
        ESTIMATE,
        HIGH,
        HOLDS,
        FLAGGED,
        CAUGHT,
        judged::ABSTAINED,
        judged::CONTRADICTED,
        DUPLICATES,
    ];
    let caption = format!("Planted designs ({runs} runs each, mean ± standard error).");
    add(DESIGNS, caption, runs, &columns, rows.clone());
    let caption = format!("The same after {CHECKED} checks, {DRAWS} draws for each graph.");
    let columns = [LEAST_ERROR, ERROR_CHECKED, COVERED];
    add(CHECKS, caption, runs, &columns, rows);
    tables
}
