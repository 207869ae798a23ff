//! Models of other kinds than an inner product, there and back.

use std::fs;

use super::*;
use linkproof_method::params::{EncoderKind, Mlp, Similarity};
use linkproof_method::{Dataset, Features, Fitted, Graph, Matrix, Params, fit};

fn fitted(encoder: EncoderKind, offsets: bool) -> Fitted {
    let links: Vec<(u32, u32, f64)> = (0..20)
        .flat_map(|i| [(i, (i + 1) % 20, 1.0), (0, (i % 9) + 5, 1.0)])
        .collect();
    let links: std::collections::BTreeMap<(u32, u32), f64> = links
        .into_iter()
        .filter(|(a, b, _)| a != b)
        .map(|(a, b, w)| ((a.min(b), a.max(b)), w))
        .collect();
    let links: Vec<_> = links.into_iter().map(|((a, b), w)| (a, b, w)).collect();
    let x: Vec<f64> = (0..60).map(|i| (f64::from(i) * 1.3).sin()).collect();
    let features = Features::new(Matrix::dense(20, 3, x).unwrap());
    let data = Dataset::new(Graph::from_rows(20, &links).unwrap(), features).unwrap();
    let params = Params {
        dim: 4,
        ridge: Some(0.1),
        steps: Some(30),
        mlp: Mlp {
            hidden: vec![5],
            ..Mlp::default()
        },
        encoder: Some(encoder),
        similarity: Similarity::Signed,
        negative_share: 0.25,
        offsets,
        ..Params::default()
    };
    fit(&params.check().unwrap(), &data).unwrap()
}

#[test]
fn offsets_and_signs_survive() {
    let folder = tempfile::tempdir().unwrap();
    let new = Features::new(Matrix::dense(1, 3, vec![0.3, -0.2, 0.9]).unwrap());
    for (place, encoder) in EncoderKind::ALL.iter().enumerate() {
        let model = fitted(*encoder, true);
        let path = folder.path().join(place.to_string());
        save(&model, &path).unwrap();
        let bytes = to_bytes(&model, &Default::default()).unwrap();
        for stored in [load(&path).unwrap(), from_bytes(&bytes).unwrap()] {
            let stored = stored.model;
            assert_eq!(stored.offsets(), model.offsets());
            for (i, j) in [(0, 1), (3, 17), (19, 4)] {
                assert_eq!(stored.pair(i, j), model.pair(i, j), "{encoder}");
            }
            if encoder.reads_vectors() {
                let [a, b] = [&stored, &model].map(|it| it.encode_view(0, &new, None).unwrap());
                assert_eq!(a, b);
                assert_eq!(a.offsets.len(), 1);
            }
        }
        // The similarity of the files: three dimensions for, one against.
        let (y, z) = (model.row(2), model.row(7));
        let product = |k: usize| f64::from(y[k]) * f64::from(z[k]);
        let b = model.offsets().unwrap();
        let s =
            product(0) + product(1) + product(2) - product(3) + f64::from(b[2]) + f64::from(b[7])
                - model.gamma().get(0, 0);
        assert!((model.pair(2, 7).similarity - s).abs() < 1e-12);
        let text = fs::read_to_string(path.join("offsets.csv")).unwrap();
        assert_eq!(text.lines().count(), 21);
        assert_eq!(text.lines().next(), Some("node,offset"));
    }
    let plain = fitted(EncoderKind::Linear, false);
    let path = folder.path().join("plain");
    save(&plain, &path).unwrap();
    assert!(!path.join("offsets.csv").exists());
    assert_eq!(load(&path).unwrap().model.offsets(), None);
}

#[test]
fn offsets_that_do_not_fit_are_refused() {
    let model = fitted(EncoderKind::Table, true);
    let mut parts = model.parts().clone();
    parts.offsets = Some(vec![0.0; 19]);
    assert!(Fitted::new(parts.clone()).is_err());
    parts.offsets = None;
    assert!(Fitted::new(parts).is_err());
}

/// While one thread replaces a model over and over, others load the one or the other.
#[test]
fn a_model_that_is_replaced_meanwhile_is_loaded_whole() {
    use crate::{FolderKind, OutputFolder};
    use std::sync::atomic::{AtomicBool, Ordering};

    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("m");
    let models = [EncoderKind::Linear, EncoderKind::Table].map(|encoder| fitted(encoder, false));
    let put = |model: &Fitted| {
        let made = OutputFolder::create(&folder, FolderKind::model(), true).unwrap();
        write_model(model, &made, &Default::default()).unwrap();
        made.commit().unwrap();
    };
    put(&models[0]);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let loaders = [0, 1].map(|_| {
            scope.spawn(|| {
                let mut times = 0;
                while !is_over.load(Ordering::Relaxed) {
                    let found = load(&folder).unwrap().model;
                    let kind = found.views()[0].network.is_table();
                    let whole = &models[usize::from(kind)];
                    assert_eq!(found.embeddings(), whole.embeddings());
                    times += 1;
                }
                times
            })
        });
        for turn in 1..60 {
            put(&models[turn % 2]);
        }
        is_over.store(true, Ordering::Relaxed);
        let times = loaders.map(|loader| loader.join().unwrap());
        assert!(times.iter().all(|times| *times > 0), "{times:?}");
    });
}
