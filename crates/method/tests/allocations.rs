//! A stochastic step works in memory that earlier steps left behind. What is
//! still allocated are small pieces for the lists of the step's pairs; the
//! network needs none, however wide it is.

#![allow(clippy::unwrap_used)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use linkproof_method::engine::objective::{Prepared, Problem};
use linkproof_method::engine::{CpuEngine, Engine, Plan};
use linkproof_method::params::{EncoderKind, Mlp, Sampler as SamplerKind, Sampling, SolverKind};
use linkproof_method::{Dataset, Features, Graph, Matrix, Params};

struct Counting;

static COUNT: AtomicUsize = AtomicUsize::new(0);
static LARGEST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const NODES: usize = 600;
const COLUMNS: usize = 200;
const STEPS: u64 = 20;

/// A ring with chords, and data vectors of ten entries.
fn data() -> Dataset {
    let links: Vec<(u32, u32, f64)> = (0..NODES as u32)
        .flat_map(|i| [1, 7, 31].map(|by| (i, (i + by) % NODES as u32, 1.0)))
        .collect();
    let (mut offsets, mut columns) = (vec![0], vec![]);
    for row in 0..NODES {
        columns.extend((0..10).map(|k| ((row * 13 + k * 20) % COLUMNS) as u32));
        offsets.push(columns.len());
    }
    let values = vec![1.0f32; columns.len()];
    let matrix = Matrix::sparse(COLUMNS, offsets, columns, values).unwrap();
    Dataset::new(
        Graph::from_rows(NODES, &links).unwrap(),
        Features::new(matrix),
    )
    .unwrap()
}

/// The allocations of a step, after the first ones, and the bytes of the
/// largest.
fn allocated(params: Params) -> (usize, usize) {
    let params = params.check().unwrap();
    let data = data();
    let prepared = Prepared::new(&data, &params, None, None).unwrap();
    let problem = Problem::new(&prepared, &params).unwrap();
    let mut engine = CpuEngine::<f32>::new(&problem);
    let start = engine.start(1.0).unwrap();
    engine.load(&start).unwrap();
    engine
        .begin(&Plan::new(&params, &problem).unwrap())
        .unwrap();
    let mut run = |steps: std::ops::Range<u64>| {
        for step in steps {
            let outcome = engine.step(step).unwrap();
            assert!(outcome.value.is_finite() && outcome.gradient_norm.is_finite());
        }
    };
    // A batch larger than any before makes buffers grow: rarely, and less and
    // less.
    run(0..60);
    let before = COUNT.load(Ordering::Relaxed);
    LARGEST.store(0, Ordering::Relaxed);
    run(60..60 + STEPS);
    let count = COUNT.load(Ordering::Relaxed) - before;
    (count / STEPS as usize, LARGEST.load(Ordering::Relaxed))
}

fn network(hidden: usize) -> Params {
    Params {
        dim: 20,
        encoder: Some(EncoderKind::Mlp),
        mlp: Mlp {
            hidden: vec![hidden],
            batch_norm: true,
            dropout: 0.5,
            ..Mlp::default()
        },
        solver: Some(SolverKind::Sgd),
        sampling: Sampling {
            sampler: SamplerKind::Pairs,
            link_batch: Some(128),
            pair_batch: 128,
            ..Sampling::default()
        },
        ..Params::default()
    }
}

/// For 256 pairs between about 350 nodes: at most 50 pieces, of 8 KiB at most.
/// A strip of 32 units alone takes 45 KB: nothing of that size is allocated.
#[test]
fn a_step_allocates_small_pieces_only() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4);
    let pool = pool.build().unwrap();
    for hidden in [300, 600] {
        let (count, largest) = pool.install(|| allocated(network(hidden)));
        eprintln!("{hidden} units: {count} allocations a step, the largest of {largest} bytes");
        assert!(count <= 50, "{count} a step");
        assert!(largest <= 8 << 10, "{largest} bytes");
    }
}
