//! Links and data vectors as Python hands them over.

use linkproof::data::attributes::Attributes;
use linkproof::data::dataset::NodeViews;
use linkproof::data::features::{Matrix, Values};
use linkproof::data::graph::{Compressed, Duplicates, Ends, Link, LinkRules, SelfLinks};
use linkproof::data::ids::{Ids, Names};
use linkproof::data::transform::transform_weights;
use linkproof::error::quote;
use linkproof::model::{End, NewLink};
use linkproof::params::WeightTransform;
use linkproof::{Dataset, Features, Graph};
use numpy::{PyArray1, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{self, Whole};
use crate::errors::{choice, exception};
use crate::kept::ask_for;
use crate::work::apart;

/// Undirected weighted links between nodes.
#[pyclass(frozen, module = "linkproof._core")]
pub struct Links {
    pub graph: Graph,
}

/// The bytes that a link takes while all of them are read.
const LINK: usize = 85;

/// The arrays that links are given as.
type Listed<'py> = (
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<f64>>,
);

#[pymethods]
impl Links {
    /// From the compressed rows of a square matrix, read where they stand.
    #[staticmethod]
    fn from_matrix(
        py: Python<'_>,
        ids: &Bound<'_, PyAny>,
        indptr: &Bound<'_, PyAny>,
        indices: &Bound<'_, PyAny>,
        data: &Bound<'_, PyAny>,
        rules: (String, String, String),
    ) -> PyResult<Links> {
        let (ids, rules) = (node_ids(ids)?, link_rules(&rules)?);
        let offsets = arrays::whole(indptr, "links.indptr")?;
        let columns = arrays::whole(indices, "links.indices")?;
        let weights = arrays::reals(data, "links.data")?;
        ask_for(LINK * weights.len(), "reading links")?;
        let graph = apart(py, || match (&offsets, &columns) {
            (Whole::Narrow(o), Whole::Narrow(c)) => from_compressed(ids, o, c, &weights, rules),
            (Whole::Narrow(o), Whole::Wide(c)) => from_compressed(ids, o, c, &weights, rules),
            (Whole::Wide(o), Whole::Narrow(c)) => from_compressed(ids, o, c, &weights, rules),
            (Whole::Wide(o), Whole::Wide(c)) => from_compressed(ids, o, c, &weights, rules),
        })?;
        Ok(Links {
            graph: graph.map_err(exception)?,
        })
    }

    /// From row numbers and weights, or weights of 1.
    #[staticmethod]
    fn from_rows(
        py: Python<'_>,
        ids: &Bound<'_, PyAny>,
        src: &Bound<'_, PyAny>,
        dst: &Bound<'_, PyAny>,
        weight: Option<&Bound<'_, PyAny>>,
        rules: (String, String, String),
    ) -> PyResult<Links> {
        let (ids, rules) = (node_ids(ids)?, link_rules(&rules)?);
        let (src, dst) = (arrays::places(src, "links")?, arrays::places(dst, "links")?);
        let weight = weight
            .map(|weight| arrays::doubles(weight, "links"))
            .transpose()?;
        if src.len() != dst.len() || weight.as_ref().is_some_and(|w| w.len() != src.len()) {
            let message = "links: found ends and weights of different numbers";
            return Err(PyValueError::new_err(message));
        }
        ask_for(LINK * src.len(), "reading links")?;
        let graph = apart(py, || {
            let link = |place: usize| Link {
                src: src[place],
                dst: dst[place],
                weight: weight.as_ref().map_or(1.0, |weight| weight[place]),
            };
            Graph::new(ids, (0..src.len()).map(link).collect(), rules)
        })?;
        Ok(Links {
            graph: graph.map_err(exception)?,
        })
    }

    /// The number of nodes.
    #[getter]
    fn n_nodes(&self) -> usize {
        self.graph.n_nodes()
    }

    /// The number of links.
    #[getter]
    fn n_links(&self) -> usize {
        self.graph.n_links()
    }

    /// Every link once: rows of its ends, and weight as a fit takes it.
    #[pyo3(signature = (weights="asis"))]
    fn arrays<'py>(&self, py: Python<'py>, weights: &str) -> PyResult<Listed<'py>> {
        let transform = choice("weights", weights, WeightTransform::ALL)?;
        let graph = transform_weights(&self.graph, transform).map_err(exception)?;
        let ends = |end: fn(Link) -> u32| graph.links().map(end).collect();
        Ok((
            PyArray1::from_vec(py, ends(|link| link.src)),
            PyArray1::from_vec(py, ends(|link| link.dst)),
            PyArray1::from_slice(py, graph.weights()),
        ))
    }
}

fn from_compressed<O, C>(
    ids: Ids,
    offsets: &[O],
    columns: &[C],
    weights: &Values,
    rules: LinkRules,
) -> linkproof::Result<Graph>
where
    O: Copy + TryInto<usize>,
    C: Copy + TryInto<u32>,
{
    match weights {
        Values::F32(weights) => {
            let matrix = Compressed {
                offsets,
                columns,
                weights,
            };
            Graph::from_matrix(ids, matrix, rules)
        }
        Values::F64(weights) => {
            let matrix = Compressed {
                offsets,
                columns,
                weights,
            };
            Graph::from_matrix(ids, matrix, rules)
        }
    }
}

/// A number of rows, or a list of names.
fn node_ids(ids: &Bound<'_, PyAny>) -> PyResult<Ids> {
    if let Ok(n) = ids.extract::<usize>() {
        let fits = u32::try_from(n).is_ok_and(|n| n < u32::MAX);
        return fits.then_some(Ids::Rows(n)).ok_or_else(|| {
            PyValueError::new_err(format!("links: found {n} nodes; expected fewer than 2^32"))
        });
    }
    let mut names = Names::default();
    for (row, id) in ids.try_iter()?.enumerate() {
        let id = id?;
        let id: &str = &id.extract::<std::borrow::Cow<'_, str>>()?;
        if names.insert(id) as usize != row {
            let message = format!(
                "nodes: found the id {} more than once; expected each once",
                quote(id)
            );
            return Err(PyValueError::new_err(message));
        }
    }
    Ok(Ids::from(names))
}

/// What to do with repeated pairs and with self-links, and what ends are.
fn link_rules((duplicates, self_links, ends): &(String, String, String)) -> PyResult<LinkRules> {
    Ok(LinkRules {
        duplicates: choice("duplicates", duplicates, Duplicates::ALL)?,
        self_links: choice("self-links", self_links, SelfLinks::ALL)?,
        ends: choice("ends", ends, Ends::ALL)?,
    })
}

/// Data vectors, in the memory of the array that they came in.
#[pyclass(frozen, module = "linkproof._core")]
pub struct Vectors {
    pub matrix: Matrix,
}

#[pymethods]
impl Vectors {
    /// From a two-dimensional array.
    #[staticmethod]
    fn dense(array: &Bound<'_, PyAny>) -> PyResult<Vectors> {
        let shape = array
            .cast::<PyUntypedArray>()
            .map(|array| array.shape().to_vec());
        let &[n_rows, n_columns] = shape.unwrap_or_default().as_slice() else {
            return Err(PyTypeError::new_err(
                "X: expected an array of two dimensions",
            ));
        };
        let values = arrays::reals(array, "X")?;
        let matrix = array
            .py()
            .detach(|| Matrix::dense(n_rows, n_columns, values));
        Ok(Vectors {
            matrix: matrix.map_err(exception)?,
        })
    }

    /// From compressed rows.
    #[staticmethod]
    fn sparse(
        py: Python<'_>,
        n_columns: usize,
        indptr: &Bound<'_, PyAny>,
        indices: &Bound<'_, PyAny>,
        data: &Bound<'_, PyAny>,
    ) -> PyResult<Vectors> {
        let offsets = arrays::offsets(indptr, "X.indptr")?;
        let columns = arrays::places(indices, "X.indices")?;
        let values = arrays::reals(data, "X.data")?;
        let matrix = py.detach(|| Matrix::sparse(n_columns, offsets, columns, values));
        Ok(Vectors {
            matrix: matrix.map_err(exception)?,
        })
    }

    /// The numbers of rows and columns.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.matrix.n_rows(), self.matrix.n_columns())
    }

    /// Where the numbers are in memory, by the names of their arrays.
    fn addresses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        let values = match &self.matrix {
            Matrix::Dense(dense) => dense.values(),
            Matrix::Sparse(sparse) => {
                found.set_item("indptr", sparse.offsets_address())?;
                found.set_item("indices", sparse.columns().as_ptr().addr())?;
                sparse.values()
            }
        };
        let address = match values {
            Values::F32(values) => values.as_ptr().addr(),
            Values::F64(values) => values.as_ptr().addr(),
        };
        found.set_item("data", address)?;
        Ok(found)
    }
}

/// Nodes, views, data vectors and links together.
#[pyclass(frozen, module = "linkproof._core")]
pub struct Data {
    pub dataset: Dataset,
    /// What a table says of the nodes beside their ids.
    pub attributes: Option<Attributes>,
}

/// Columns by their headers, an entry for each node.
pub type Columns = Vec<(String, Vec<String>)>;

/// A view's name, its number of nodes and their data vectors.
pub type ViewArgument<'py> = (String, usize, Option<PyRef<'py, Vectors>>);

#[pymethods]
impl Data {
    /// Joins links and the views of their nodes, which follow each other, and what is
    /// known of nodes: columns, and the header of the one with their names.
    #[new]
    #[pyo3(signature = (links, views, columns=Vec::new(), name=None))]
    fn new(
        py: Python<'_>,
        links: &Links,
        views: Vec<ViewArgument<'_>>,
        columns: Columns,
        name: Option<&str>,
    ) -> PyResult<Data> {
        let attributes = attributes(columns, name).map_err(exception)?;
        let graph = links.graph.clone();
        let ids = match graph.ids().sides() {
            Some(sides) => sides.source.clone(),
            None => graph.ids().clone(),
        };
        let views: Vec<(String, usize, Option<Matrix>)> = views
            .into_iter()
            .map(|(name, n, vectors)| (name, n, vectors.map(|vectors| vectors.matrix.clone())))
            .collect();
        let dataset = apart(py, || match views.as_slice() {
            [(name, _, None)] if name.is_empty() => Dataset::with_nodes(graph, ids),
            [(name, _, Some(matrix))] if name.is_empty() => {
                Dataset::new(graph, Features::with_ids(ids, matrix.clone())?)
            }
            _ => join(graph, ids, views),
        })?;
        Ok(Data {
            dataset: dataset.map_err(exception)?,
            attributes: Some(attributes),
        })
    }
}

/// Columns about nodes, named by one of them where that is said.
pub fn attributes(columns: Columns, name: Option<&str>) -> linkproof::Result<Attributes> {
    let columns = columns.into_iter();
    let columns = columns.map(|(header, texts)| (header, texts.into_iter().collect()));
    let found = Attributes::new(columns.collect())?;
    match name {
        Some(name) => found.shown_by(name),
        None => Ok(found),
    }
}

fn join(
    graph: Graph,
    ids: Ids,
    views: Vec<(String, usize, Option<Matrix>)>,
) -> linkproof::Result<Dataset> {
    let names = views
        .iter()
        .flat_map(|(name, n, _)| std::iter::repeat_n(name.clone(), *n));
    let nodes = NodeViews {
        ids,
        views: names.collect(),
        rows: None,
    };
    Dataset::with_views(graph, nodes, features(views))
}

/// The data vectors of the views that have some.
pub fn features(views: Vec<(String, usize, Option<Matrix>)>) -> Vec<(String, Features)> {
    let with_vectors = |(name, _, matrix): (String, usize, Option<Matrix>)| {
        matrix.map(|matrix| (name, Features::new(matrix)))
    };
    views.into_iter().filter_map(with_vectors).collect()
}

/// Links of unseen nodes to training nodes.
pub fn new_links(links: Vec<(u32, u32, f64)>) -> Vec<NewLink> {
    let link = |(row, known, weight)| NewLink {
        row,
        end: End::Known(known),
        weight,
    };
    links.into_iter().map(link).collect()
}
