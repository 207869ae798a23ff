//! A fitted model.

use std::path::PathBuf;

use linkproof::data::attributes::Attributes;
use linkproof::data::ids::{Ids, Names};
use linkproof::inspect::plain_verdict;
use linkproof::io::{
    FolderKind, OutputFolder, Stored, fit_json, from_bytes, load, to_bytes, write_model,
};
use linkproof::model::{Nearness, Point, Query};
use linkproof::robust::embed_new;
use linkproof::text::{Reader, Style, note};
use linkproof::{Features, Fit, Fitted};
use numpy::ndarray::ArrayView2;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::{Map, Value, json};

use crate::context::{Context, Work};
use crate::data::{Columns, Data, Links, Vectors, new_links};
use crate::errors::{choice, exception};
use crate::settings::params;
use crate::work::{apart, quietly};
use crate::worker::read;

/// A fitted model.
#[pyclass(frozen, module = "linkproof._core")]
pub struct Model {
    pub fitted: Fitted,
    /// What `fit.json` says beside the fit itself.
    pub record: Map<String, Value>,
}

/// Fewer rows than these are embedded on one thread.
const SOME_ROWS: usize = 256;

/// Rows that are near, their expected weights and their nearness.
type Near<'py> = (
    Bound<'py, PyArray1<usize>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
);

/// Three of them, of real numbers.
type Expected<'py> = (
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
);

#[pymethods]
impl Model {
    /// Fits a model.
    #[staticmethod]
    fn fit(py: Python<'_>, data: &Data, settings: &str, context: &Context) -> PyResult<Model> {
        let params = params(settings)?;
        let attributes = data.attributes.clone();
        let data = &data.dataset;
        let work = Work {
            name: "fit",
            params: params.given(),
            more: "",
        };
        context.fit(py, data, Some(work), |runtime, here| {
            let fitted = Fit::new(&params).runtime(runtime).run(data)?;
            let fitted = fitted.with_attributes(attributes)?;
            let look = plain_verdict(&fitted, data, here)?;
            let verdict = linkproof::text::plain(&look, &reader(&|row| name_of(&fitted, row)));
            let record = Map::from_iter([
                ("versions".to_owned(), versions()?),
                ("verdict".to_owned(), json!(verdict)),
                ("look".to_owned(), json!(look)),
            ]);
            Ok(Model { fitted, record })
        })
    }

    /// Loads a model folder.
    #[staticmethod]
    fn load(py: Python<'_>, folder: PathBuf) -> PyResult<Model> {
        quietly(py, None, || load(&folder).map(Model::from))
    }

    /// Writes a model folder; `extra` goes into `fit.json`.
    fn save(&self, py: Python<'_>, folder: PathBuf, overwrite: bool, extra: &str) -> PyResult<()> {
        let mut record = self.record.clone();
        record.extend(read::<Map<String, Value>>(extra, "extra")?);
        quietly(py, None, || {
            let folder = OutputFolder::create(&folder, FolderKind::model(), overwrite)?;
            write_model(&self.fitted, &folder, &record)?;
            folder.commit()
        })
    }

    /// All of it in one piece, for a pickle.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = quietly(py, None, || to_bytes(&self.fitted, &self.record))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// A model from one piece.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Model> {
        quietly(py, None, || from_bytes(bytes).map(Model::from))
    }

    fn __reduce__<'py>(
        this: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let make = this.get_type().getattr("from_bytes")?;
        Ok((make, (this.get().to_bytes(this.py())?,)))
    }

    /// The recommended embeddings, in the model's own memory, not to be written
    /// to.
    #[getter]
    fn embedding<'py>(this: Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        in_place(&this, |model| model.fitted.recommended())
    }

    /// Those of the encoder, which expected weights are of.
    #[getter]
    fn plain_embedding<'py>(this: Bound<'py, Self>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        in_place(&this, |model| model.fitted.embeddings())
    }

    /// Everything that `fit.json` says, as JSON.
    #[getter]
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        let report = apart(py, || fit_json(&self.fitted, &self.record))?;
        Ok(report.map_err(exception)?.to_string())
    }

    /// What a user should know, in words for Python users.
    #[getter]
    fn notes(&self) -> Vec<String> {
        let notes = self.fitted.report().notes.iter();
        notes.map(|it| note(it, Style::Python)).collect()
    }

    /// The numbers of a fit's history: step, value, length of the gradient,
    /// held-out score (NaN where none) and seconds.
    fn history<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let history = &self.fitted.report().history;
        let found = PyDict::new(py);
        let steps = history.iter().map(|record| record.step).collect();
        found.set_item("step", PyArray1::from_vec(py, steps))?;
        type Column = (&'static str, fn(&linkproof::engine::runtime::Record) -> f64);
        let columns: [Column; 4] = [
            ("value", |record| record.value),
            ("gradient_norm", |record| record.gradient_norm),
            ("held_out", |record| record.held_out.unwrap_or(f64::NAN)),
            ("seconds", |record| record.seconds),
        ];
        for (name, number) in columns {
            let numbers = history.iter().map(number).collect();
            found.set_item(name, PyArray1::from_vec(py, numbers))?;
        }
        Ok(found)
    }

    /// The ids in row order, as text; `None` where they are row numbers.
    #[getter]
    fn ids(&self) -> Option<Vec<String>> {
        ids_as_text(self.fitted.node_ids())
    }

    /// The views: name, whether it has an encoder of data vectors, and the
    /// number of their entries (of a table: of its nodes).
    #[getter]
    fn views(&self) -> Vec<(String, bool, usize)> {
        let view = |view: &linkproof::model::FittedView| {
            let inputs = view.network.spec().inputs;
            (view.name.clone(), !view.network.is_table(), inputs)
        };
        self.fitted.views().iter().map(view).collect()
    }

    /// The view of each node, as a place among the views.
    #[getter]
    fn node_views<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_slice(py, self.fitted.node_views())
    }

    /// `gamma` of each pair of views that took part, by their places.
    #[getter]
    fn gamma(&self) -> Vec<(usize, usize, f64)> {
        let pairs = self.fitted.view_pairs().iter();
        pairs
            .map(|&(d, e)| (d, e, self.fitted.gamma().get(d, e)))
            .collect()
    }

    /// The links of the fit.
    #[getter]
    fn links(&self) -> Links {
        Links {
            graph: self.fitted.links().clone(),
        }
    }

    /// The embeddings of unseen nodes of a view, from their data vectors and
    /// perhaps links (new row, training row, weight): the recommended ones.
    #[pyo3(signature = (view, vectors, links, *, threads))]
    fn embed<'py>(
        &self,
        py: Python<'py>,
        view: usize,
        vectors: &Vectors,
        links: Option<Vec<(u32, u32, f64)>>,
        threads: Option<usize>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let n = vectors.matrix.n_rows();
        // Few rows are embedded sooner than threads are started.
        let threads = if n < SOME_ROWS { Some(1) } else { threads };
        let links = links.map(new_links);
        let found = quietly(py, threads, || {
            let features = Features::new(vectors.matrix.clone());
            Ok(embed_new(&self.fitted, view, &features, links.as_deref())?.embeddings)
        })?;
        rows(py, found, n, self.fitted.dim())
    }

    /// Unseen nodes as their pairs see them: what the encoder makes of data vectors,
    /// and their offsets in a column more.
    fn encode<'py>(
        &self,
        py: Python<'py>,
        view: usize,
        vectors: &Vectors,
        links: Option<Vec<(u32, u32, f64)>>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let links = links.map(new_links);
        let found = quietly(py, None, || {
            let features = Features::new(vectors.matrix.clone());
            self.fitted.encode_view(view, &features, links.as_deref())
        })?;
        self.as_points(py, vectors.matrix.n_rows(), |row| found.point(row))
    }

    /// The nodes of the fit as their pairs see them, offsets in the last column.
    #[getter]
    fn points<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        self.as_points(py, self.fitted.n_nodes(), |row| self.fitted.point(row))
    }

    /// Whether links have directions: then rows are sources, and then the same nodes as
    /// targets.
    #[getter]
    fn directed(&self) -> bool {
        self.fitted.is_directed()
    }

    /// The offset of each row; none in a model without.
    #[getter]
    fn offsets<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f32>>> {
        Some(PyArray1::from_slice(py, self.fitted.offsets()?))
    }

    /// How far each link of the fit is believed, in their order; none without the
    /// robust recipe.
    #[getter]
    fn beliefs<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        let believed = self.fitted.believed()?;
        Some(PyArray1::from_slice(py, believed.beliefs()))
    }

    /// What is expected of pairs of points ([`Model::points`]), whose views are given as
    /// places: the chance of a link, its size and the weight.
    fn expected<'py>(
        &self,
        py: Python<'py>,
        points: PyReadonlyArray2<'py, f32>,
        views: PyReadonlyArray1<'py, u32>,
        src: PyReadonlyArray1<'py, i64>,
        dst: PyReadonlyArray1<'py, i64>,
    ) -> PyResult<Expected<'py>> {
        let (points, views) = (points.as_slice()?, views.as_slice()?);
        let (src, dst, width) = (src.as_slice()?, dst.as_slice()?, self.fitted.dim() + 1);
        let [p_link, size, mu] = py.detach(|| {
            let end = |row: i64| {
                let row = row as usize;
                self.point(&points[row * width..(row + 1) * width], views[row] as usize)
            };
            let pairs = src.iter().zip(dst).map(|(&i, &j)| (end(i), end(j)));
            let mut columns = [const { Vec::new() }; 3];
            for (a, b) in pairs {
                let numbers = match self.fitted.takes_part(a.view, b.view) {
                    true => {
                        let found = self.fitted.expected(a, b);
                        [found.p_link, found.size, found.mu]
                    }
                    // The fit knows nothing of such pairs.
                    false => [f64::NAN; 3],
                };
                columns
                    .iter_mut()
                    .zip(numbers)
                    .for_each(|(column, number)| column.push(number));
            }
            columns
        });
        let column = |numbers| PyArray1::from_vec(py, numbers);
        Ok((column(p_link), column(size), column(mu)))
    }

    /// The nearest rows of each of some points of a view, whose recommended embeddings
    /// stand beside: what they are near by, and for each point rows, expected weights
    /// and nearness.
    #[pyo3(signature = (points, recommended, view, *, top, leaving_out, within, by))]
    #[expect(
        clippy::too_many_arguments,
        reason = "private; Python's method has defaults"
    )]
    fn neighbors<'py>(
        &self,
        py: Python<'py>,
        points: PyReadonlyArray2<'py, f32>,
        recommended: PyReadonlyArray2<'py, f32>,
        view: usize,
        top: usize,
        leaving_out: Option<usize>,
        within: Option<usize>,
        by: Option<&str>,
    ) -> PyResult<(String, Vec<Near<'py>>)> {
        let by = by.map(|by| choice("by", by, Nearness::ALL)).transpose()?;
        let (points, width) = (points.as_slice()?, self.fitted.dim() + 1);
        let recommended = recommended.as_slice()?.chunks_exact(self.fitted.dim());
        let points = points.chunks_exact(width).zip(recommended);
        let queries: Vec<Query<'_>> = points
            .map(|(point, recommended)| Query {
                point: self.point(point, view),
                recommended,
                row: leaving_out,
            })
            .collect();
        let found = apart(py, || self.fitted.nearest(&queries, top, within, by))?;
        let found = found.map_err(exception)?;
        let lists = found.lists.iter().map(|list| {
            let rows = list.iter().map(|near| near.row).collect();
            let mu = list.iter().map(|near| near.mu).collect();
            let by = list.iter().map(|near| near.by).collect();
            (
                PyArray1::from_vec(py, rows),
                PyArray1::from_vec(py, mu),
                PyArray1::from_vec(py, by),
            )
        });
        Ok((found.by.to_string(), lists.collect()))
    }

    /// What a table says of the nodes beside their ids: columns by header.
    #[getter]
    fn columns(&self) -> Columns {
        let known = self.fitted.attributes();
        let columns = known.map_or(&[][..], Attributes::columns).iter();
        let text = |text: &str| text.to_owned();
        columns
            .map(|(header, texts)| (header.clone(), texts.iter().map(text).collect()))
            .collect()
    }

    /// The header of the column with the names of nodes, if there is one.
    #[getter]
    fn name_column(&self) -> Option<&str> {
        self.fitted.attributes()?.name_header()
    }
}

impl Model {
    /// A point of a view: an embedding, then an offset.
    fn point<'y>(&self, numbers: &'y [f32], view: usize) -> Point<'y> {
        let (y, offset) = numbers.split_at(self.fitted.dim());
        Point {
            y,
            offset: offset.first().copied().unwrap_or(0.0),
            view,
        }
    }

    fn as_points<'py, 'y>(
        &'y self,
        py: Python<'py>,
        n: usize,
        point: impl Fn(usize) -> Point<'y>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let width = self.fitted.dim() + 1;
        let mut numbers = Vec::with_capacity(n * width);
        for row in 0..n {
            let Point { y, offset, .. } = point(row);
            numbers.extend_from_slice(y);
            numbers.push(offset);
        }
        rows(py, numbers, n, width)
    }
}

/// Embeddings in the model's own memory.
fn in_place<'py>(
    model: &Bound<'py, Model>,
    of: fn(&Model) -> &[f32],
) -> PyResult<Bound<'py, PyArray2<f32>>> {
    let fitted = &model.get().fitted;
    if fitted.is_directed() {
        let (values, width) = fitted.by_node(of(model.get()), fitted.dim());
        let n = fitted.node_ids().len();
        let array = rows(model.py(), values.into_owned(), n, width)?;
        array.call_method1("setflags", (false,))?;
        return Ok(array);
    }
    let shape = (fitted.n_nodes(), fitted.dim());
    let view = ArrayView2::from_shape(shape, of(model.get()));
    let view = view.map_err(|error| PyValueError::new_err(error.to_string()))?;
    // SAFETY: a frozen model never changes its embeddings, and the array keeps
    // the model alive.
    let array = unsafe { PyArray2::borrow_from_array(&view, model.clone().into_any()) };
    array.call_method1("setflags", (false,))?;
    Ok(array)
}

/// What made the model.
pub fn versions() -> linkproof::Result<Value> {
    Ok(json!({ "linkproof": env!("CARGO_PKG_VERSION"),
        "system": std::env::consts::OS, "processor": std::env::consts::ARCH,
        "instructions": linkproof::instructions()? }))
}

impl From<Stored> for Model {
    fn from(stored: Stored) -> Model {
        Model {
            fitted: stored.model,
            record: stored.record,
        }
    }
}

/// Ids in row order as text; none if they are row numbers. Those of two kinds of nodes may
/// be the same.
pub fn ids_as_text(ids: &Ids) -> Option<Vec<String>> {
    let name = |row| ids.name(row).into_owned();
    (!matches!(ids, Ids::Rows(_))).then(|| (0..ids.len()).map(name).collect())
}

/// Names as texts.
pub fn text(names: &Names) -> Vec<String> {
    (0..names.len())
        .map(|row| names.name(row).to_owned())
        .collect()
}

/// Numbers, row after row, as an array of two dimensions.
pub fn rows<T: numpy::Element>(
    py: Python<'_>,
    values: Vec<T>,
    n: usize,
    dim: usize,
) -> PyResult<Bound<'_, PyArray2<T>>> {
    PyArray1::from_vec(py, values).reshape([n, dim])
}

/// The id of a row of a model.
pub fn name_of(model: &Fitted, row: u32) -> String {
    model.ids().name(row as usize).into_owned()
}

/// Who reads sentences in Python, without files.
pub fn reader(name: &dyn Fn(u32) -> String) -> Reader<'_> {
    Reader {
        style: Style::Python,
        name,
        suspects: None,
        sample: None,
    }
}
