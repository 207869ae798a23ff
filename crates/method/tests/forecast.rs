//! Forecasts of memory, by which fits are refused, against what an allocator counts.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use linkproof_method::engine::Forecast;
use linkproof_method::engine::runtime::{MemoryBound, Runtime};
use linkproof_method::params::OptimizerKind;
use linkproof_method::robust::{Recipe, bootstrap, fit_model};
use linkproof_method::{Dataset, Error, Features, Fit, Graph, Matrix, Params, Result};

struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

fn take(size: usize) {
    let held = HELD.fetch_add(size, Ordering::Relaxed) + size;
    MOST.fetch_max(held, Ordering::Relaxed);
}

// SAFETY: every call goes to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Data vectors with more columns have few entries.
const MOST_DENSE: usize = 2500;

/// A planted graph of four groups, and data vectors of so many columns.
fn data(n: usize, degree: usize, columns: usize) -> Dataset {
    let mut state = 12345u64;
    let mut random = move || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as usize
    };
    let mut links: Vec<(u32, u32, f64)> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    while links.len() < n * degree / 2 {
        let a = random() % n;
        let b = match random() % 10 {
            0 => random() % n,
            _ => (random() % (n / 4)) * 4 + a % 4,
        };
        if a != b && b < n && seen.insert((a.min(b), a.max(b))) {
            links.push((a as u32, b as u32, 1.0));
        }
    }
    let graph = Graph::from_rows(n, &links).unwrap();
    if columns == 0 {
        return Dataset::from_links(graph).unwrap();
    }
    if columns > MOST_DENSE {
        // Words, of which a node has forty.
        let rows = (0..n).map(|row| {
            let words = (0..40).map(|_| (random() % (columns / 4) * 4 + row % 4) as u32);
            words.collect::<std::collections::BTreeSet<u32>>()
        });
        let rows: Vec<_> = rows.collect();
        let mut offsets = vec![0];
        rows.iter()
            .for_each(|row| offsets.push(offsets[offsets.len() - 1] + row.len()));
        let words: Vec<u32> = rows.into_iter().flatten().collect();
        let values = vec![1.0f32; words.len()];
        let matrix = Matrix::sparse(columns, offsets, words, values).unwrap();
        return Dataset::new(graph, Features::new(matrix)).unwrap();
    }
    let values: Vec<f32> = (0..n * columns)
        .map(|place| {
            let (row, column) = (place / columns, place % columns);
            f32::from(u8::from(column % 4 == row % 4)) + (random() % 1000) as f32 / 500.0
        })
        .collect();
    Dataset::new(
        graph,
        Features::new(Matrix::dense(n, columns, values).unwrap()),
    )
    .unwrap()
}

/// What a fit is refused by where there is no memory at all.
fn foretold<T>(fit: impl Fn(Runtime<'_>) -> Result<T>) -> f64 {
    let none = MemoryBound {
        bytes: 0,
        by: "by a test".to_owned(),
        in_use: None,
    };
    match fit(Runtime::default().within(&none)) {
        Err(Error::Memory { needed, .. }) => (needed - Forecast::PROGRAM) as f64,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("not refused"),
    }
}

/// The most bytes that are held while something is done, beside `before`.
fn counted<T>(before: usize, work: impl Fn(Runtime<'_>) -> Result<T>) -> f64 {
    MOST.store(HELD.load(Ordering::Relaxed), Ordering::Relaxed);
    drop(work(Runtime::default()).unwrap());
    (MOST.load(Ordering::Relaxed) - before) as f64
}

fn compare<T>(what: &str, before: usize, work: impl Fn(Runtime<'_>) -> Result<T>) {
    let (foretold, counted) = (foretold(&work), counted(before, &work));
    let megabytes = |bytes: f64| (bytes / 1e5).round() / 10.0;
    let (forecast, held) = (megabytes(foretold), megabytes(counted));
    eprintln!("{what}: foretold {forecast} MB, held {held} MB");
    assert!(
        counted <= 1.1 * foretold,
        "{what}: {forecast} MB, {held} MB"
    );
    // Fits of several threads do not always hold most at the same time.
    assert!(
        counted >= 0.6 * foretold,
        "{what}: {forecast} MB, {held} MB"
    );
}

/// One test: what runs beside would be counted too.
#[test]
fn forecasts_are_what_the_allocator_counts() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2);
    pool.build().unwrap().install(|| {
        for (n, degree, columns, dim) in [
            (1200, 10, 400, 64),
            (2000, 20, 0, 32),
            (800, 6, 2000, 16),
            (4000, 6, 3000, 16),
        ] {
            let before = HELD.load(Ordering::Relaxed);
            let data = data(n, degree, columns);
            let params = Params {
                dim,
                steps: Some(20),
                ..Params::default()
            };
            let params = params.check().unwrap();
            let recipe = Recipe::default();
            let what = format!("{n} nodes, {columns} columns, {dim} dimensions");
            compare(&format!("robust, {what}"), before, |runtime| {
                fit_model(&params, &data, &recipe, runtime)
            });
            let fitted = Fit::new(&params).run(&data).unwrap();
            compare(&format!("replicates, {what}"), before, |runtime| {
                bootstrap(&fitted, &data, &recipe, 20, runtime)
            });
        }
        let before = HELD.load(Ordering::Relaxed);
        let data = data(2000, 4, 0);
        let params = Params {
            dim: 64,
            steps: Some(30),
            optimizer: Some(OptimizerKind::Lbfgs),
            ..Params::default()
        };
        let params = params.check().unwrap();
        compare("a table by L-BFGS", before, |runtime| {
            Fit::new(&params).runtime(runtime).run(&data)
        });
    });
}
