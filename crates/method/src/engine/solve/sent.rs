//! Fits that run on another machine: what travels there and back.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{Task, Trained, train};
use crate::data::buffer::Buffer;
use crate::data::dataset::DataView;
use crate::data::digest::Digest;
use crate::data::features::{Matrix, Offsets, Values};
use crate::data::floats::Floats;
use crate::data::graph::{Graph, Link, LinkRules};
use crate::data::ids::Ids;
use crate::engine::Plan;
use crate::engine::objective::{Prepared, Problem};
use crate::engine::pairs::{Part, Split};
use crate::engine::runtime::Runtime;
use crate::error::{Error, Result};
use crate::params::Params;
use crate::score::ScoreWords;

/// A [`Task`] that travels.
#[derive(Debug, Clone)]
pub struct SentTask {
    /// Everything but features.
    pub words: Vec<u8>,
    /// The features of each view that has any.
    pub features: Vec<Lists>,
}

/// Lists of numbers, and a name for what they hold: many fits read the same.
#[derive(Debug, Clone)]
pub struct Lists {
    /// A digest of the lists.
    pub name: String,
    /// The lists.
    pub lists: Vec<Numbers>,
}

/// Numbers that are not copied where many fits on a machine read them.
#[derive(Debug, Clone)]
pub enum Numbers {
    /// Real numbers.
    Reals(Values),
    /// Places of rows and columns.
    Places(Buffer<u32>),
}

/// The words of a task.
#[derive(Serialize, Deserialize)]
struct Words<'t> {
    params: Params,
    ridge: f64,
    per: f64,
    plan: Plan,
    start: Option<Floats<'t, f64>>,
    sums: Vec<(Part, ScoreWords)>,
    n_nodes: usize,
    views: Vec<ViewWords>,
    view_pairs: Vec<(usize, usize)>,
    split: Option<Split>,
    training: Links,
    held_out: Option<Links>,
    judged: Option<Links>,
    aside: Option<Links>,
    impossible: [Option<Links>; 2],
}

type Links = Vec<(u32, u32, f64)>;

#[derive(Serialize, Deserialize)]
struct ViewWords {
    name: String,
    rows: Range<usize>,
    /// The number of feature columns.
    columns: Option<usize>,
}

impl SentTask {
    /// A task as it travels.
    ///
    /// # Errors
    /// None that is known.
    pub fn new(task: &Task<'_>) -> Result<SentTask> {
        let (problem, data) = (task.problem, task.problem.data);
        let views = data.views.iter();
        let words = Words {
            params: problem.params.clone(),
            ridge: problem.ridge,
            per: problem.per,
            plan: task.plan.clone(),
            start: task.start.map(Floats::from),
            sums: { task.sums.iter() }
                .map(|(part, score)| (*part, score.words()))
                .collect(),
            n_nodes: problem.n_nodes(),
            views: views
                .map(|view| ViewWords {
                    name: view.name.clone(),
                    rows: view.rows.clone(),
                    columns: view.matrix.as_ref().map(Matrix::n_columns),
                })
                .collect(),
            view_pairs: data.view_pairs.clone(),
            split: data.split,
            training: links_of(&data.training),
            held_out: data.held_out.as_ref().map(links_of),
            judged: data.judged.as_ref().map(links_of),
            aside: data.aside.as_ref().map(links_of),
            impossible: { data.impossible.each_ref() }.map(|it| it.as_ref().map(links_of)),
        };
        let matrices = data.views.iter().filter_map(|view| view.matrix.as_ref());
        Ok(SentTask {
            words: bytes_of(&words)?,
            features: matrices.map(lists_of).collect(),
        })
    }

    /// Runs the fit here. Its result travels back to [`SentTask::result`].
    ///
    /// # Errors
    /// Words and features that do not belong together, and whatever ends a fit but that it
    /// diverged, which is a result.
    pub fn run(self, runtime: Runtime<'_>) -> Result<Vec<u8>> {
        let words: Words<'_> = read(&self.words)?;
        let mut features = self.features.into_iter();
        let mut view = |(space, view): (usize, ViewWords)| {
            let matrix = view.columns.map(|columns| {
                let lists = features.next().ok_or_else(torn)?.lists;
                matrix((view.rows.len(), columns), lists)
            });
            Ok(DataView {
                matrix: matrix.transpose()?,
                name: view.name,
                rows: view.rows,
                space,
            })
        };
        let views = words.views.into_iter().enumerate();
        let graph = |links: Option<Links>| {
            let link = |(src, dst, weight)| Link { src, dst, weight };
            let graph = |links: Links| {
                let links = links.into_iter().map(link).collect();
                Graph::new(Ids::Rows(words.n_nodes), links, LinkRules::default())
            };
            links.map(graph).transpose()
        };
        let [never_held_out, never_judged] = words.impossible;
        let data = Prepared {
            views: views.map(&mut view).collect::<Result<_>>()?,
            view_pairs: words.view_pairs,
            training_links: words.training.len(),
            training: graph(Some(words.training))?.ok_or_else(torn)?,
            held_out: graph(words.held_out)?,
            judged: graph(words.judged)?,
            aside: graph(words.aside)?,
            impossible: [graph(never_held_out)?, graph(never_judged)?],
            split: words.split,
            // These are reported and not used.
            set_aside_links: 0,
            ignored_links: 0,
        };
        let mut problem = Problem::new(&data, &words.params.check()?)?;
        (problem.ridge, problem.per) = (words.ridge, words.per);
        let sums = words.sums.into_iter();
        let task = Task {
            problem: &problem,
            plan: words.plan,
            start: words.start.as_deref(),
            sums: sums
                .map(|(part, score)| (part, score.score::<f64>()))
                .collect(),
        };
        bytes_of(&match train(&task, runtime) {
            Ok(trained) => Ok(trained),
            Err(Error::Diverged { step, detail }) => Err((step, detail)),
            Err(error) => return Err(error),
        })
    }

    /// The result of a fit that ran on another machine.
    ///
    /// # Errors
    /// Bytes that are no result; [`Error::Diverged`].
    pub fn result(bytes: &[u8]) -> Result<Trained> {
        let found: std::result::Result<Trained, (usize, String)> = read(bytes)?;
        found.map_err(|(step, detail)| Error::Diverged { step, detail })
    }
}

fn bytes_of(what: &impl Serialize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    ciborium::into_writer(what, &mut bytes).map_err(|_| torn())?;
    Ok(bytes)
}

fn read<V: for<'d> Deserialize<'d>>(bytes: &[u8]) -> Result<V> {
    ciborium::from_reader(bytes).map_err(|_| torn())
}

/// Words and numbers of different tasks.
fn torn() -> Error {
    let expected = "the one that was sent";
    Error::data(
        "a fit of another machine",
        "parts of another task",
        expected,
    )
}

fn links_of(graph: &Graph) -> Links {
    let links = graph.links();
    links
        .map(|link| (link.src, link.dst, link.weight))
        .collect()
}

fn lists_of(matrix: &Matrix) -> Lists {
    let mut digest = Digest::default();
    digest.matrix(matrix);
    let lists = match matrix {
        Matrix::Dense(dense) => vec![Numbers::Reals(dense.values().clone())],
        Matrix::Sparse(sparse) => {
            let offsets = sparse.offsets();
            let narrow: Option<Vec<u32>> = { offsets.iter() }
                .map(|&place| u32::try_from(place).ok())
                .collect();
            vec![
                match narrow {
                    Some(narrow) => Numbers::Places(narrow.into()),
                    // Whole numbers up to 2^53 are real numbers too.
                    None => {
                        let wide: Vec<f64> = offsets.iter().map(|&place| place as f64).collect();
                        Numbers::Reals(wide.into())
                    }
                },
                Numbers::Places(sparse.columns().to_vec().into()),
                Numbers::Reals(sparse.values().clone()),
            ]
        }
    };
    Lists {
        name: digest.to_string(),
        lists,
    }
}

fn matrix((n_rows, n_columns): (usize, usize), lists: Vec<Numbers>) -> Result<Matrix> {
    let mut lists = lists.into_iter();
    match (lists.next(), lists.next(), lists.next()) {
        (Some(Numbers::Reals(all)), None, None) => Matrix::dense(n_rows, n_columns, all),
        (Some(offsets), Some(Numbers::Places(columns)), Some(Numbers::Reals(stored))) => {
            let offsets = match offsets {
                Numbers::Places(offsets) => Offsets::Narrow(offsets),
                Numbers::Reals(wide) => {
                    let wide = wide.cast::<f64>();
                    let offsets: Vec<usize> = wide.iter().map(|&place| place as usize).collect();
                    offsets.into()
                }
            };
            Matrix::sparse(n_columns, offsets, columns, stored)
        }
        _ => Err(torn()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{Backend, Cpu, Engine};
    use crate::model::folds::{Folds, fit_fold};
    use crate::params::{EncoderKind, Precision};
    use crate::synthetic::{Noise, synthetic};
    use std::sync::Mutex;

    /// Runs fits here, from what would have travelled.
    #[derive(Default)]
    struct NextDoor(Mutex<Vec<SentTask>>);

    impl Backend for NextDoor {
        fn single<'p>(&self, problem: &'p Problem<'p>) -> Result<Box<dyn Engine<f32> + 'p>> {
            Cpu.single(problem)
        }

        fn double<'p>(&self, problem: &'p Problem<'p>) -> Result<Box<dyn Engine<f64> + 'p>> {
            Cpu.double(problem)
        }

        fn offload(
            &self,
            task: &Task<'_>,
            is_wanted: &dyn Fn() -> bool,
        ) -> Option<Result<Trained>> {
            assert!(is_wanted());
            let task = SentTask::new(task).unwrap();
            self.0.lock().unwrap().push(task.clone());
            let bytes = task.run(Runtime::default());
            Some(bytes.and_then(|bytes| SentTask::result(&bytes)))
        }
    }

    #[test]
    fn a_fit_on_another_machine_has_the_same_bits() {
        let data = synthetic(4, Noise::false_links(0.02)).unwrap().data;
        for (encoder, precision) in [
            (EncoderKind::Linear, Precision::F32),
            (EncoderKind::Table, Precision::F64),
        ] {
            let params = Params {
                dim: 2,
                ridge: Some(0.1),
                validation: Some(0.1),
                encoder: Some(encoder),
                precision,
                ..Params::default()
            };
            let params = params.check().unwrap();
            let folds = Folds::new(0, 3).unwrap();
            let next_door = NextDoor::default();
            let here = Runtime::default();
            let fit = |runtime| fit_fold(&params, &data, (folds, 1), None, runtime).unwrap();
            let (one, other) = (fit(here), fit(here.on(&next_door)));
            assert_eq!((one.y, one.steps), (other.y, other.steps));
            for task in next_door.0.into_inner().unwrap() {
                // Words that are cut, and features that are missing, are refused.
                let mut torn = task.clone();
                torn.words.truncate(task.words.len() / 2);
                assert!(torn.run(here).is_err());
                assert!(!task.features.is_empty());
                let features = Vec::new();
                let torn = SentTask { features, ..task };
                assert!(torn.run(here).is_err());
            }
        }
    }

    #[test]
    fn a_fit_that_diverged_is_a_result() {
        let found: std::result::Result<(), _> = Err((7usize, "ran away".to_owned()));
        let bytes = bytes_of(&found).unwrap();
        let error = SentTask::result(&bytes).unwrap_err();
        assert!(matches!(error, Error::Diverged { step: 7, ref detail } if detail == "ran away"));
        assert!(SentTask::result(&bytes[..9]).is_err());
    }
}
