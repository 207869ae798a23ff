//! Shares of passes over all pairs on a card: the same bits, however many there are.

use linkproof_cuda::Cuda;
use linkproof_method::engine::Real;
use linkproof_method::engine::pairs::{
    AllPairs, EmbeddedRows, FlatPartial, PairPass, Part, PassShare, Split, Sums, Tiled, ViewMatrix,
    join_rows, mirrored,
};
use linkproof_method::params::ScoreKind;
use linkproof_method::score::{Kernel, Score};

/// Computes a share of a pass.
type ByShare<T> =
    dyn Fn(&EmbeddedRows<'_, T>, &AllPairs<'_>, &Score, (PassShare, bool)) -> FlatPartial<T>;

/// A pass by so many shares.
fn whole<T: Real>(
    of: usize,
    part: impl Fn(PassShare) -> FlatPartial<T>,
    embedded: &EmbeddedRows<'_, T>,
    with_gradient: bool,
) -> (Sums, Vec<T>) {
    let shares: Vec<FlatPartial<T>> = (0..of)
        .map(|index| part(PassShare::new(index, of).unwrap()))
        .collect();
    let mut gradient = vec![
        T::ZERO;
        if with_gradient {
            embedded.n_slopes()
        } else {
            0
        }
    ];
    let out = with_gradient.then_some(gradient.as_mut_slice());
    let lists: Vec<_> = shares.iter().map(FlatPartial::lists).collect();
    let sums = join_rows(&lists, embedded, out).unwrap();
    (sums, gradient)
}

/// Passes with offsets, signs, views that do not all meet, and held-out pairs.
fn check<T: Real>(shares: [&ByShare<T>; 2], tolerance: f64) {
    // So many rows that shares of them would be cut into more parts than the whole.
    let (n, dim) = (800, 7);
    let drawn =
        |len: usize| -> Vec<T> { (0..len).map(|x| T::of((x as f64 * 0.37).sin())).collect() };
    let (y, offsets) = (drawn(n * dim), drawn(n));
    let nodes: Vec<u32> = (0..n as u32).collect();
    let split = (Split::share(3, 0.2), Part::Training);
    for (views, negative, offsets, split) in [
        (vec![0..n; 1], 0, &[][..], None),
        (vec![0..310, 310..n], 0, &offsets[..], Some(split)),
        (vec![0..n; 1], 3, &offsets[..], None),
        (vec![0..n; 1], 2, &[][..], Some(split)),
    ] {
        let gamma = ViewMatrix::filled(views.len(), 0.3);
        let mut scale = ViewMatrix::filled(views.len(), 1.0);
        if views.len() > 1 {
            scale.set(0, 0, 0.0);
        }
        let mirror = mirrored(&y, dim, negative);
        let embedded = EmbeddedRows {
            y: &y,
            mirror: &mirror,
            offsets,
            dim,
            views: &views,
            gamma: &gamma,
        };
        let pairs = AllPairs {
            rows: &views,
            scale: &scale,
            nodes: &nodes,
            split,
            watched: split.is_some(),
        };
        for kind in [ScoreKind::Moment, ScoreKind::Probability] {
            let kernel = Kernel::new(&Score::new(kind, 0.5));
            let by = |place: usize| {
                let (embedded, pairs, score) = (&embedded, &pairs, kernel.score());
                move |share| shares[place](embedded, pairs, score, (share, true))
            };
            let (sums, gradient) = whole(1, by(0), &embedded, true);
            // By another user of the same card, too.
            for (of, place) in [(2, 1), (7, 0)] {
                let again = whole(of, by(place), &embedded, true);
                assert!(again == (sums.clone(), gradient.clone()), "{of} shares");
            }
            let value = |share| shares[1](&embedded, &pairs, kernel.score(), (share, false));
            let alone = whole(2, value, &embedded, false).0;
            let mut expected = vec![T::ZERO; gradient.len()];
            let here = Tiled::default()
                .all_pairs(&embedded, &pairs, &kernel, Some(&mut expected))
                .unwrap();
            for found in [&sums, &alone] {
                assert!((found.value / here.value - 1.0).abs() < tolerance);
                assert_eq!(found.pairs, here.pairs);
                assert_eq!(found.watched.1, here.watched.1);
            }
            let square = |x: f64| x * x;
            let norm = |x: &[T]| x.iter().map(|x| square(x.to_f64())).sum::<f64>().sqrt();
            let between: Vec<T> = { gradient.iter().zip(&expected) }
                .map(|(a, b)| *a - *b)
                .collect();
            assert!(norm(&between) < tolerance * norm(&expected));
        }
    }
}

/// Shares of passes in both precisions, for two who use the card in turns.
pub fn shares_of_passes(card: &Cuda) {
    let single = || -> Box<ByShare<f32>> {
        let shares = card.shares().unwrap();
        Box::new(move |y, pairs, score, how| shares.part(y, pairs, score, how).unwrap())
    };
    check([&*single(), &*single()], 2e-6);
    let double = || -> Box<ByShare<f64>> {
        let shares = card.shares().unwrap();
        Box::new(move |y, pairs, score, how| shares.part(y, pairs, score, how).unwrap())
    };
    check([&*double(), &*double()], 1e-10);
    println!("shares of passes: ok");
}
