//! Solvers that run elsewhere: what they are given, as words and lists of numbers.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::Plan;
use crate::data::buffer::Buffer;
use crate::data::dataset::DataView;
use crate::data::digest::Digest;
use crate::data::features::{Matrix, Offsets, Values};
use crate::data::graph::{Graph, Link, LinkRules};
use crate::data::ids::Ids;
use crate::engine::objective::{Prepared, Problem};
use crate::engine::pairs::Split;
use crate::error::{Error, Result};
use crate::params::{CheckedParams, Params};
use linkproof_numeric::real::Real;

/// Numbers that a solver is given.
#[derive(Debug, Clone)]
pub enum Numbers {
    /// In single precision.
    Single(Buffer<f32>),
    /// In double precision.
    Double(Buffer<f64>),
    /// Places of rows and columns.
    Places(Buffer<u32>),
}

impl Numbers {
    fn of<T: Real>(numbers: &[T]) -> Numbers {
        match T::to_f32s(numbers) {
            Some(numbers) => Numbers::Single(numbers.to_vec().into()),
            None => {
                let numbers = numbers.iter().map(|x| x.to_f64());
                Numbers::Double(numbers.collect::<Vec<f64>>().into())
            }
        }
    }
}

/// Lists of numbers, and a name for what they hold where many solvers read the same.
#[derive(Debug, Clone)]
pub struct Lists {
    /// A digest of the lists.
    pub name: Option<String>,
    /// The lists.
    pub lists: Vec<Numbers>,
}

/// A solver in words; numbers stand apart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SolverWords {
    params: Params,
    plan: Plan,
    n_nodes: usize,
    views: Vec<ViewWords>,
    view_pairs: Vec<(usize, usize)>,
    split: Option<Split>,
    /// Which of the graphs there are: training, held out, judged, set aside, and the
    /// pairs that cannot be held out and judged.
    graphs: [bool; 6],
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct ViewWords {
    name: String,
    rows: Range<usize>,
    /// The number of columns of its data vectors.
    columns: Option<usize>,
}

/// A solver that is to run elsewhere.
#[derive(Debug, Clone)]
pub struct SolverTask {
    /// Everything but numbers.
    pub words: SolverWords,
    /// The numbers: of each view's data vectors, of all graphs, of the start.
    pub numbers: Vec<Lists>,
}

impl SolverTask {
    /// What a solver of a problem needs.
    pub fn new<T: Real>(problem: &Problem<'_>, plan: &Plan, start: &[T]) -> SolverTask {
        let data = problem.data;
        let mut numbers = Vec::new();
        let views = data.views.iter().map(|view| ViewWords {
            name: view.name.clone(),
            rows: view.rows.clone(),
            columns: view.matrix.as_ref().map(|matrix| {
                numbers.push(lists_of(matrix));
                matrix.n_columns()
            }),
        });
        let views = views.collect();
        let [never_held_out, never_judged] = &data.impossible;
        let graphs = [
            Some(&data.training),
            data.held_out.as_ref(),
            data.judged.as_ref(),
            data.aside.as_ref(),
            never_held_out.as_ref(),
            never_judged.as_ref(),
        ];
        for graph in graphs.into_iter().flatten() {
            let ends = |end: fn(Link) -> u32| graph.links().map(end).collect::<Vec<u32>>();
            numbers.push(Lists {
                name: None,
                lists: vec![
                    Numbers::Places(ends(|link| link.src).into()),
                    Numbers::Places(ends(|link| link.dst).into()),
                    Numbers::Double(graph.weights().to_vec().into()),
                ],
            });
        }
        numbers.push(Lists {
            name: None,
            lists: vec![Numbers::of(start)],
        });
        SolverTask {
            words: SolverWords {
                params: problem.params.clone(),
                plan: plan.clone(),
                n_nodes: problem.n_nodes(),
                views,
                view_pairs: data.view_pairs.clone(),
                split: data.split,
                graphs: graphs.map(|graph| graph.is_some()),
            },
            numbers,
        }
    }

    /// What the solver is to work on: data, settings, the plan and the start.
    ///
    /// # Errors
    /// Words and numbers that do not belong together.
    pub fn unpack(self) -> Result<Unpacked> {
        let SolverTask { words, numbers } = self;
        let mut numbers = numbers.into_iter().map(|lists| lists.lists);
        let mut next = || numbers.next().ok_or_else(torn);
        let views: Result<Vec<DataView>> = words
            .views
            .into_iter()
            .enumerate()
            .map(|(space, view)| {
                let rows = view.rows.len();
                let columns = view.columns;
                let matrix = columns.map(|columns| matrix((rows, columns), next()?));
                Ok(DataView {
                    matrix: matrix.transpose()?,
                    name: view.name,
                    rows: view.rows,
                    space,
                })
            })
            .collect();
        let views = views?;
        let mut graphs = words.graphs.map(|is_there| match is_there {
            true => graph(words.n_nodes, next()?).map(Some),
            false => Ok(None),
        });
        let mut take = |place: usize| std::mem::replace(&mut graphs[place], Ok(None));
        let training = take(0)?.ok_or_else(torn)?;
        let data = Prepared {
            views,
            view_pairs: words.view_pairs,
            training_links: training.n_links(),
            training,
            held_out: take(1)?,
            judged: take(2)?,
            aside: take(3)?,
            impossible: [take(4)?, take(5)?],
            split: words.split,
            // These are told and not used.
            set_aside_links: 0,
            ignored_links: 0,
        };
        let mut start = next()?;
        Ok(Unpacked {
            data,
            params: words.params.check()?,
            plan: words.plan,
            start: start.pop().ok_or_else(torn)?,
        })
    }
}

/// A task as a solver reads it.
#[derive(Debug, Clone)]
pub struct Unpacked {
    /// The data.
    pub data: Prepared,
    /// The settings.
    pub params: CheckedParams,
    /// The plan.
    pub plan: Plan,
    /// Where it starts, in the precision of the fit.
    pub start: Numbers,
}

/// Words and numbers of different tasks.
pub fn torn() -> Error {
    Error::data(
        "a solver's task",
        "numbers of another",
        "those it was sent with",
    )
}

fn lists_of(matrix: &Matrix) -> Lists {
    let values = |values: &Values| match values {
        Values::F32(values) => Numbers::Single(values.clone()),
        Values::F64(values) => Numbers::Double(values.clone()),
    };
    let mut digest = Digest::default();
    digest.matrix(matrix);
    let lists = match matrix {
        Matrix::Dense(dense) => vec![values(dense.values())],
        Matrix::Sparse(sparse) => {
            let offsets = sparse.offsets();
            let narrow: Option<Vec<u32>> = offsets
                .iter()
                .map(|&place| u32::try_from(place).ok())
                .collect();
            // Whole numbers up to 2^53 are real numbers too.
            let offsets = match narrow {
                Some(narrow) => Numbers::Places(narrow.into()),
                None => {
                    let wide = offsets.iter().map(|&place| place as f64);
                    Numbers::Double(wide.collect::<Vec<f64>>().into())
                }
            };
            vec![
                offsets,
                Numbers::Places(sparse.columns().to_vec().into()),
                values(sparse.values()),
            ]
        }
    };
    Lists {
        name: Some(digest.to_string()),
        lists,
    }
}

fn matrix((n_rows, n_columns): (usize, usize), lists: Vec<Numbers>) -> Result<Matrix> {
    let values = |numbers: Numbers| match numbers {
        Numbers::Single(values) => Ok(Values::F32(values)),
        Numbers::Double(values) => Ok(Values::F64(values)),
        Numbers::Places(_) => Err(torn()),
    };
    let mut lists = lists.into_iter();
    match (lists.next(), lists.next(), lists.next()) {
        (Some(all), None, None) => Matrix::dense(n_rows, n_columns, values(all)?),
        (Some(offsets), Some(Numbers::Places(columns)), Some(stored)) => {
            let stored = values(stored)?;
            match offsets {
                Numbers::Places(offsets) => {
                    let offsets = Offsets::Narrow(offsets);
                    Matrix::sparse(n_columns, offsets, columns, stored)
                }
                Numbers::Double(wide) => {
                    let offsets: Vec<usize> = wide.iter().map(|&place| place as usize).collect();
                    Matrix::sparse(n_columns, offsets, columns, stored)
                }
                Numbers::Single(_) => Err(torn()),
            }
        }
        _ => Err(torn()),
    }
}

fn graph(n_nodes: usize, lists: Vec<Numbers>) -> Result<Graph> {
    let [
        Numbers::Places(src),
        Numbers::Places(dst),
        Numbers::Double(weights),
    ] = lists.as_slice()
    else {
        return Err(torn());
    };
    if src.len() != dst.len() || src.len() != weights.len() {
        return Err(torn());
    }
    let links = src.iter().zip(dst.iter()).zip(weights.iter());
    let links = links.map(|((&src, &dst), &weight)| Link { src, dst, weight });
    Graph::new(Ids::Rows(n_nodes), links.collect(), LinkRules::default())
}
