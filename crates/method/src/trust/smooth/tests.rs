//! Averages against their formula, and what they do to planted clusters.

use super::*;
use crate::contamination::contaminate;
use crate::data::dataset::NodeViews;
use crate::data::features::{Features, Matrix};
use crate::data::ids::Ids;
use crate::data::transform::normalize;
use crate::measure::{KMeans, purity};
use crate::model::fit;
use crate::params::{Normalize, OptimizerKind, Params, Precision, ScoreKind};
use crate::synthetic::{CLUSTERS, Noise, Synthetic, synthetic};
use crate::trust::audit::{judge, random_pairs};

fn settings(score: ScoreKind) -> Params {
    Params {
        dim: 2,
        score,
        beta: 0.5,
        ridge: 10.0,
        normalize: Normalize::None,
        validation: Some(0.0),
        optimizer: Some(OptimizerKind::Lbfgs),
        precision: Precision::F64,
        ..Params::default()
    }
}

fn fitted(made: &Synthetic) -> (Fitted, Vec<Verdict>, Vec<f64>) {
    let params = settings(ScoreKind::Probability).check().unwrap();
    let model = fit(&params, &made.data).unwrap();
    let verdicts = judge(&model, made.data.graph().links());
    let random = random_pairs(&made.data, 2000, 1)
        .iter()
        .map(|pair| model.mu(pair.src as usize, pair.dst as usize))
        .collect();
    (model, verdicts, random)
}

#[test]
fn averages_follow_the_formula() {
    let made = synthetic(3, Noise::false_links(0.01)).unwrap();
    let (model, verdicts, random) = fitted(&made);
    let smoother = Smoother::new(&model, verdicts.clone(), random.clone(), 1);
    let law = sizes(&model, &verdicts, |_| 1.0);
    let rates = discover(&verdicts, law.as_ref(), &random).rates;
    let (n, dim) = (model.n_nodes(), model.dim());
    let mut b = vec![0.0; n * n];
    for (verdict, rate) in verdicts.iter().zip(&rates) {
        b[verdict.src as usize * n + verdict.dst as usize] = *rate;
        b[verdict.dst as usize * n + verdict.src as usize] = *rate;
    }
    (0..n).for_each(|i| b[i * n + i] = 1.0);
    let d: Vec<f64> = b.chunks(n).map(|row| row.iter().sum()).collect();
    for i in 0..n {
        for k in 0..dim {
            let plain: f64 = (0..n)
                .map(|j| b[i * n + j] / d[i] * f64::from(model.row(j)[k]))
                .sum();
            let found = f64::from(smoother.embeddings()[i * dim + k]);
            assert!((plain - found).abs() < 1e-5, "{i} {k}: {plain} {found}");
        }
    }
    let none = Smoother::new(&model, verdicts, random, 0);
    assert_eq!(none.embeddings(), model.embeddings());
}

#[test]
fn absurd_links_carry_nothing() {
    let made = synthetic(1, Noise::false_links(0.01)).unwrap();
    let worse = contaminate(&made.data, &made.labels, 0.1, 100.0, 1).unwrap();
    let made = Synthetic {
        data: worse.data,
        ..made
    };
    let (model, verdicts, random) = fitted(&made);
    let smoother = Smoother::new(&model, verdicts, random, 2);
    let mut believed = [0.0, 0.0];
    for (verdict, sound) in smoother.beliefs() {
        let is_false = worse.false_links.contains(&(verdict.src, verdict.dst));
        assert!(!is_false || sound < 0.01, "{verdict:?} {sound}");
        believed[usize::from(is_false)] += sound;
    }
    assert!(believed[0] > 0.4 * made.data.graph().n_links() as f64);
    let found = KMeans::new(CLUSTERS, 0)
        .fit(smoother.embeddings(), model.n_nodes(), 2)
        .unwrap();
    assert!(purity(&made.labels, &found.labels).unwrap() > 0.95);
}

#[test]
fn new_nodes_move_towards_what_they_are_linked_to() {
    let made = synthetic(5, Noise::false_links(0.0)).unwrap();
    let (model, verdicts, random) = fitted(&made);
    let smoother = Smoother::new(&model, verdicts, random, 2);
    let y = [model.row(0), model.row(60)].concat();
    let new = Encoded {
        y: y.clone(),
        offsets: Vec::new(),
        dim: 2,
        view: 0,
    };
    assert_eq!(smoother.embed(&new, &[]).unwrap(), y, "no links");
    let links: Vec<NewLink> = (1..6)
        .map(|known| NewLink {
            row: 0,
            end: End::Known(known),
            weight: 1.0,
        })
        .collect();
    let moved = smoother.embed(&new, &links).unwrap();
    assert_ne!(moved[..2], y[..2]);
    assert_eq!(moved[2..], y[2..], "the other has no links");
    let pair = NewLink {
        row: 0,
        end: End::New(1),
        weight: 1.0,
    };
    assert!(smoother.embed(&new, &[pair]).is_ok());
    for end in [End::Known(200), End::New(2)] {
        let wrong = NewLink { end, ..pair };
        assert!(smoother.embed(&new, &[wrong]).is_err());
    }
}

/// The same nodes, every third of which is of a view of its own whose data
/// vectors have one entry more; with the vectors of the named views only.
fn in_two_views(made: &Synthetic, named: &[&str]) -> Dataset {
    let matrix = made.data.views()[0].matrix.as_ref().unwrap();
    let n = made.data.n_nodes();
    let view_of = |row: u32| {
        if row.is_multiple_of(3) {
            "wide"
        } else {
            "plain"
        }
    };
    let vectors = |name: &str| {
        let p = matrix.n_columns() + usize::from(name == "wide");
        let rows: Vec<u32> = (0..n as u32).filter(|&row| view_of(row) == name).collect();
        let mut x = vec![0.0; rows.len() * p];
        for (place, &row) in rows.iter().enumerate() {
            x[place * p + p - 1] = f64::from(row % 7);
            for (column, entry) in matrix.row(row as usize) {
                x[place * p + column as usize] = entry;
            }
        }
        Features::new(Matrix::dense(rows.len(), p, x).unwrap())
    };
    let nodes = NodeViews {
        ids: Ids::Rows(n),
        views: (0..n as u32).map(|row| view_of(row).to_owned()).collect(),
        rows: None,
    };
    let features = named.iter().map(|&name| (name.to_owned(), vectors(name)));
    let links = made.data.user_graph().unwrap();
    Dataset::with_views(links, nodes, features.collect()).unwrap()
}

#[test]
fn data_vectors_of_a_view_tell_of_the_averages_of_its_nodes() {
    let made = synthetic(2, Noise::false_links(0.0)).unwrap();
    let data = in_two_views(&made, &["plain", "wide"]);
    let params = Params {
        normalize: Normalize::L2,
        ..settings(ScoreKind::Likelihood)
    };
    let model = fit(&params.clone().check().unwrap(), &data).unwrap();
    let verdicts = judge(&model, data.user_graph().unwrap().links());
    let smoother = Smoother::new(&model, verdicts, Vec::new(), 2);
    let view = model.view(Some("wide")).unwrap();
    // Views of the data may stand in another order.
    let data = in_two_views(&made, &["wide", "plain"]);
    let learnt = smoother.unseen(view, &data).unwrap();
    let matrix = data.views()[0].matrix.as_ref().unwrap();
    let outputs: Vec<f32> = (0..data.n_nodes() as u32)
        .step_by(3)
        .flat_map(|row| row_of(smoother.embeddings(), row, model.dim()))
        .copied()
        .collect();
    let unit = normalize(matrix.clone(), Normalize::L2).unwrap();
    let plain = Regression::new(&unit, &outputs, model.dim(), Normalize::None, params.seed);
    let plain = plain.unwrap();
    assert_eq!(learnt.ridge, plain.ridge);
    assert_eq!(learnt.embed(matrix).unwrap(), plain.embed(&unit).unwrap());
    for (named, what) in [(["plain"], "view 'wide'"), (["wide"], "")] {
        let found = smoother.unseen(view, &in_two_views(&made, &named));
        let error = found.err().map(|error| error.to_string());
        assert_eq!(error.is_some(), !what.is_empty());
        assert!(error.unwrap_or_default().contains(what));
    }
}
