//! The judge on planted designs: what it promises, and what becomes of it.

use super::designs::{Design, Promise};
use super::job::{Job, Place, Reading, Row, Table};
use super::judged::{self, AUC, CAUGHT, DUPLICATES, ERROR, ESTIMATE, FLAGGED, HIGH, HOLDS, TRUTH};
use linkproof_method::engine::runtime::Runtime;
use linkproof_method::error::Result;
use linkproof_method::judge::{Check, JudgeSpec, Judgment, judge};

/// The names of the tables.
pub const DESIGNS: &str = "designs";
/// Of the one about checks.
pub const CHECKS: &str = "checks";
/// And of the one about promises.
pub const PROMISES: &str = "promises";

/// Links that a person checks, and in how many draws for each graph.
const CHECKED: usize = 30;
const DRAWS: u64 = 10;

const ERROR_CHECKED: &str = "error of the estimate after 30 checks";
const COVERED: &str = "draws in which Low to High covers the truth";
const LEAST_ERROR: &str = "error of the estimate before";
const KEPT: &str = "kept";

/// What is promised, by design.
fn promise(design: &Design) -> &'static str {
    match design.promise() {
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
pub fn jobs<'j>(runs: u64, seed: u64) -> Vec<Job<'j>> {
    let job = |design: &'static Design, run: u64| Job {
        key: format!("{}-run{run}", design.name),
        cost: 1.0,
        work: Box::new(move |runtime| readings(design, (run, seed.wrapping_add(run)), runtime)),
    };
    let designs = Design::ALL.iter();
    designs
        .flat_map(|design| (0..runs).map(move |run| job(design, run)))
        .collect()
}

fn readings(
    design: &'static Design,
    (run, seed): (u64, u64),
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
        readings.push(place(DESIGNS, column).reading(design.name, *value));
    }
    let run_of_promise = Design::ALL.iter().position(|it| it.name == design.name);
    let number = run_of_promise.unwrap_or(0) as f64;
    let at = Place {
        table: PROMISES,
        column: KEPT,
        run,
    };
    let row = format!("{} / {number}", promise(design));
    readings.extend(kept.map(|kept| at.reading(&row, kept)));
    if design.promise() != Promise::Abstains && !judgment.facts.abstained {
        let [error, covered] = after_checks(&judgment, &is_false, seed);
        let before = of(ERROR).into_iter().map(|error| (LEAST_ERROR, error));
        for (column, value) in before.chain([(ERROR_CHECKED, error), (COVERED, covered)]) {
            readings.push(place(CHECKS, column).reading(design.name, value));
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

/// The readings with the promises of all designs together.
pub fn together(readings: Vec<Reading>, runs: u64) -> Vec<Reading> {
    let one = |reading: Reading| match reading.row.split_once(" / ") {
        Some((row, number)) if reading.table == PROMISES => Reading {
            run: number.parse::<u64>().unwrap_or(0) * runs + reading.run,
            row: row.to_owned(),
            ..reading
        },
        _ => reading,
    };
    readings.into_iter().map(one).collect()
}

/// The tables.
pub fn tables(runs: u64) -> Vec<Table> {
    let columns = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let table = |name: &str, caption: String, columns, rows| Table {
        name: name.to_owned(),
        caption,
        measure: String::new(),
        digits: 3,
        runs,
        columns,
        rows,
    };
    let rows = || Design::ALL.iter().map(|it| Row::new(it.name)).collect();
    let designs = table(
        DESIGNS,
        format!("Planted designs ({runs} runs each, mean ± standard error)."),
        columns(&[
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
        ]),
        rows(),
    );
    let checks = table(
        CHECKS,
        format!("The same after {CHECKED} checks, {DRAWS} draws for each graph."),
        columns(&[LEAST_ERROR, ERROR_CHECKED, COVERED]),
        rows(),
    );
    let count = |promise: Promise| {
        let designs = Design::ALL.iter().filter(|it| it.promise() == promise);
        designs.count() as u64 * runs
    };
    let kinds = PROMISED.into_iter();
    let promises = kinds.map(|kind| {
        let of_kind = Design::ALL.iter().find(|it| it.promise() == kind);
        let rows = of_kind
            .map(|it| Row::new(promise(it)))
            .into_iter()
            .collect();
        let caption = format!(
            "Promises over all designs and runs ({} graphs).",
            count(kind)
        );
        Table {
            runs: count(kind),
            ..table(PROMISES, caption, columns(&[KEPT]), rows)
        }
    });
    promises.chain([designs, checks]).collect()
}
