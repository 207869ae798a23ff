//! Feeds damaged files to every reader, to the model loader and
//! to the page, and expects an error or a result: no panic, no hang, and no more
//! memory than the bound.
//!
//! `linkproof-fuzz SECONDS [TARGET ..]` works in turns on all targets, or on those that
//! are named; `linkproof-fuzz replay` runs everything in `corpus` once, which is also a
//! test. What fails is kept in `target/fuzz/TARGET`: put it into `corpus/TARGET`,
//! so that it is tried for ever after.

// The program is there to fail.
#![allow(clippy::panic, clippy::unwrap_used)]

mod bound;
mod mutate;
mod seeds;
mod targets;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use bound::{Bound, peak_of};
use mutate::mutate;
use targets::{TARGETS, Target, Workshop};

#[global_allocator]
static MEMORY: Bound = Bound;

/// No input is longer.
const LONGEST: usize = 1 << 16;
/// No input may take longer.
const SLOWEST: Duration = Duration::from_secs(5);
/// No input may take more memory.
const MOST_MEMORY: usize = 512 << 20;
/// How long one target has its turn.
const TURN: Duration = Duration::from_secs(2);
/// After so many turns there is one more for the target that was tried least.
const MORE: usize = 3;
/// What a packed file may become here.
const UNPACKED: u64 = 32 << 20;

/// What one input did: nothing worth telling, or what is wrong with that.
fn tried(target: &Target, input: &[u8], shop: &mut Workshop) -> Result<(), String> {
    let clock = Instant::now();
    let (outcome, peak) = peak_of(|| {
        let run = std::panic::AssertUnwindSafe(|| (target.run)(shop, input));
        std::panic::catch_unwind(run)
    });
    match outcome {
        Err(said) => {
            let text = said.downcast_ref::<String>().cloned();
            let text = text.or_else(|| said.downcast_ref::<&str>().map(|s| (*s).to_owned()));
            Err(format!("panicked: {}", text.unwrap_or_default()))
        }
        Ok(Err(wrong)) => Err(wrong),
        Ok(Ok(())) if clock.elapsed() > SLOWEST => Err(format!("took {:?}", clock.elapsed())),
        Ok(Ok(())) if peak > MOST_MEMORY => Err(format!("took {} MB", peak >> 20)),
        Ok(Ok(())) => Ok(()),
    }
}

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")
}

/// The inputs of a target that are in the tree.
fn kept(target: &Target) -> Vec<Vec<u8>> {
    let folder = corpus().join(target.name);
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

/// Runs every seed and all of the corpus once; how many, and what was wrong.
fn replay() -> (usize, Vec<String>) {
    let mut shop = Workshop::new();
    let (mut count, mut wrong) = (0, Vec::new());
    for target in TARGETS {
        let inputs = seeds::of(target.name, &mut shop)
            .into_iter()
            .chain(kept(target));
        for (place, input) in inputs.enumerate() {
            count += 1;
            if let Err(what) = tried(target, &input, &mut shop) {
                wrong.push(format!("{} {place}: {what}", target.name));
            }
        }
    }
    (count, wrong)
}

fn fuzz(seconds: u64, chosen: &[String]) -> bool {
    let mut shop = Workshop::new();
    let end = Instant::now() + Duration::from_secs(seconds);
    let is_chosen = |target: &&Target| chosen.is_empty() || chosen.iter().any(|n| n == target.name);
    let targets: Vec<&Target> = TARGETS.iter().filter(is_chosen).collect();
    let mut pools: Vec<Vec<Vec<u8>>> = Vec::new();
    for target in &targets {
        let mut pool = seeds::of(target.name, &mut shop);
        pool.extend(kept(target));
        pools.push(pool);
    }
    let begin = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let seed = std::env::var("LINKPROOF_FUZZ_SEED")
        .ok()
        .and_then(|text| text.parse().ok());
    let seed = seed.unwrap_or_else(|| begin.map_or(0, |since| since.as_secs()));
    println!(
        "seed {seed}; an abort leaves its input in {}",
        shop.path("").display()
    );
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut counts = vec![0u64; targets.len()];
    let mut failures = vec![0u64; targets.len()];
    let mut told = Instant::now();
    for number in 0.. {
        let least = || (0..targets.len()).min_by_key(|place| counts[*place]);
        let place = match number % (MORE + 1) {
            MORE => least().unwrap_or(0),
            other => (number / (MORE + 1) * MORE + other) % targets.len(),
        };
        let (target, turn) = (targets[place], Instant::now());
        while turn.elapsed() < TURN && Instant::now() < end {
            for _ in 0..16 {
                let mut input = mutate(&pools[place], &mut random);
                input.truncate(LONGEST);
                counts[place] += 1;
                if let Err(what) = tried(target, &input, &mut shop) {
                    failures[place] += 1;
                    keep(target, &input, &what);
                }
            }
        }
        if Instant::now() >= end {
            break;
        }
        if told.elapsed() > Duration::from_secs(60) {
            told = Instant::now();
            tell(&targets, &counts, &failures);
        }
    }
    tell(&targets, &counts, &failures);
    failures.iter().all(|count| *count == 0)
}

fn tell(targets: &[&Target], counts: &[u64], failures: &[u64]) {
    for ((target, count), failed) in targets.iter().zip(counts).zip(failures) {
        println!(
            "{:<18} {count:>10} executions {failed:>4} failures",
            target.name
        );
    }
    println!("{:<18} {:>10}", "all", counts.iter().sum::<u64>());
}

fn keep(target: &Target, input: &[u8], what: &str) {
    let folder = Path::new("target/fuzz").join(target.name);
    fs::create_dir_all(&folder).unwrap();
    let name = input.iter().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let path = folder.join(format!("{name:016x}"));
    println!("{}: {what}: {}", target.name, path.display());
    fs::write(path, input).unwrap();
}

/// One input at a time, so that memory is one input's; and panics are ours to tell.
fn prepare() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1);
    // Where there is a pool already, it is used.
    let _ = pool.build_global();
    linkproof::io::set_unpacked_limit(UNPACKED);
    std::panic::set_hook(Box::new(|_| {}));
}

fn main() -> ExitCode {
    prepare();
    let words: Vec<String> = std::env::args().skip(1).collect();
    let is_sound = match words.split_first() {
        Some((first, _)) if first == "replay" => {
            let (count, wrong) = replay();
            wrong.iter().for_each(|what| println!("{what}"));
            println!("{count} inputs, {} failures", wrong.len());
            wrong.is_empty()
        }
        Some((first, chosen)) => match first.parse() {
            Ok(seconds) => fuzz(seconds, chosen),
            Err(_) => {
                eprintln!("expected a number of seconds, or 'replay', but found {first}");
                return ExitCode::from(2);
            }
        },
        None => fuzz(60, &[]),
    };
    ExitCode::from(u8::from(!is_sound))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything that ever failed, and what is whole.
    #[test]
    fn the_corpus_holds() {
        linkproof::io::set_unpacked_limit(UNPACKED);
        let (count, wrong) = replay();
        assert!(wrong.is_empty(), "{wrong:?}");
        assert!(count > TARGETS.len(), "{count}");
    }

    /// For as many seconds as `LINKPROOF_FUZZ_SECONDS` says; `make fuzz` runs it.
    #[test]
    #[ignore = "runs for LINKPROOF_FUZZ_SECONDS"]
    fn for_a_while() {
        let seconds = std::env::var("LINKPROOF_FUZZ_SECONDS").unwrap_or_default();
        prepare();
        assert!(fuzz(seconds.parse().unwrap_or(60), &[]));
    }

    /// A few inputs that nobody has seen, the same on every machine.
    #[test]
    fn damaged_inputs_are_errors() {
        linkproof::io::set_unpacked_limit(UNPACKED);
        let mut shop = Workshop::new();
        let mut random = ChaCha8Rng::seed_from_u64(1);
        for target in TARGETS {
            let pool = seeds::of(target.name, &mut shop);
            assert!(!pool.is_empty(), "{}", target.name);
            for _ in 0..target.few {
                let input = mutate(&pool, &mut random);
                if let Err(what) = tried(target, &input, &mut shop) {
                    panic!("{}: {what}: {}", target.name, input.escape_ascii());
                }
            }
        }
    }
}
