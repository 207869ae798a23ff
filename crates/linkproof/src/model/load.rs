//! Loading a model folder. Nothing in it is believed before it is checked: a
//! damaged or hostile folder gives an error.

use std::collections::HashMap;
use std::path::Path;

use safetensors::{Dtype, SafeTensors, tensor::TensorView};

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::files::{
    Described, DescribedView, EMBEDDINGS, EMBEDDINGS_PLAIN, FIT, LABELS, LINKS, MODEL, NODES,
    VERSION, averages_of, damaged, numbers_of_links, vectors_of,
};
use super::save::fit_json;
use super::{Averaged, Believed, Classes, FitReport, Fitted, FittedView, ModelParts, Neighborhood};
use crate::dataset::Dataset;
use crate::encoder::{Network, Statistics};
use crate::error::{Error, Result, quote};
use crate::features::{Matrix, Values};
use crate::graph::{Graph, Link, LinkRules};
use crate::ids::{Ids, Names};
use crate::io::{Labels, read_labels, read_links, read_nodes, read_npy, read_text};
use crate::pairs::ViewMatrix;
use crate::params::EncoderKind;

/// A model as it was stored, and what `fit.json` says beside it.
#[derive(Debug, Clone)]
pub struct Stored {
    /// The model.
    pub model: Fitted,
    /// Versions, inputs, what was chosen, and whatever else the writer noted.
    pub record: Map<String, Value>,
}

/// Loads a model folder.
pub fn load(folder: impl AsRef<Path>) -> Result<Stored> {
    let folder = folder.as_ref();
    let path = folder.join(MODEL);
    let bytes = std::fs::read(&path).map_err(|source| Error::read(&path, source))?;
    let reader = Reader::new(&path, &bytes)?;
    let described = reader.described()?;
    let views = reader.views(described.views, described.params.dim)?;
    let (ids, node_views) = load_nodes(&folder.join(NODES), &views)?;
    let (n, dim) = (ids.len(), described.params.dim);
    let recommended = load_embeddings(&folder.join(EMBEDDINGS), n, dim)?;
    // Expected weights belong to the embeddings of the encoder.
    let plain = folder.join(EMBEDDINGS_PLAIN);
    let (embeddings, averages) = match plain.exists() {
        false => (recommended, None),
        true => (load_embeddings(&plain, n, dim)?, Some(recommended)),
    };
    let links = load_links(folder, &ids)?;
    let (report, fit) = load_report(&folder.join(FIT), &read_text(&folder.join(FIT))?)?;
    let labels = folder.join(LABELS);
    let labels = labels.exists().then(|| read_labels(&labels)).transpose()?;
    let classes = labels.map(|labels| Classes::new(&labels, &ids));
    let described = Described {
        views: Vec::new(),
        ..described
    };
    let rest = Rest {
        views,
        ids,
        node_views,
        embeddings,
        averages,
        links,
        classes,
        report,
    };
    reader.model(described, rest)?.stored(fit)
}

/// A model and its record from one piece, as [`super::to_bytes`] makes it.
pub fn from_bytes(bytes: &[u8]) -> Result<Stored> {
    let path = Path::new("a stored model");
    let reader = Reader::new(path, bytes)?;
    let described = reader.described()?;
    let views = reader.views(described.views, described.params.dim)?;
    let ids = match reader.json("nodes")? {
        Value::Number(n) => Ids::Rows(n.as_u64().unwrap_or_default() as usize),
        names => {
            let names: Vec<String> =
                serde_json::from_value(names).map_err(|error| damaged(path, &error))?;
            let mut known = Names::default();
            for name in &names {
                known.insert(name);
            }
            Ids::Names(known)
        }
    };
    let shape = [ids.len(), described.params.dim];
    let ends = reader.find("links.ends")?;
    let ends = reader.u32s("links.ends", &ends)?;
    let weights = reader.f64s("links.weights", &[ends.len() / 2])?;
    let links = ends.as_chunks::<2>().0.iter().zip(weights);
    let links = links.map(|(&[src, dst], weight)| Link { src, dst, weight });
    let links = Graph::new(ids.clone(), links.collect(), LinkRules::default());
    let averages = match reader.has("averages") {
        true => Some(reader.f32s("averages", &shape)?),
        false => None,
    };
    let classes: Option<(Vec<String>, Vec<Option<u32>>)> = reader.json("classes")?;
    let text: Value = reader.json("fit")?;
    let (report, fit) = load_report(path, &text.to_string())?;
    let node_views = reader.find("node_views")?;
    let rest = Rest {
        views,
        node_views: reader.u32s("node_views", &node_views)?,
        embeddings: reader.f32s("embeddings", &shape)?,
        averages,
        links: links.map_err(|error| damaged(path, &error))?,
        classes: classes.map(|(names, codes)| Classes { names, codes }),
        report,
        ids,
    };
    let described = Described {
        views: Vec::new(),
        ..described
    };
    reader.model(described, rest)?.stored(fit)
}

/// What a folder and a piece of memory hold in different ways.
struct Rest {
    views: Vec<FittedView>,
    ids: Ids,
    node_views: Vec<u32>,
    embeddings: Vec<f32>,
    averages: Option<Vec<f32>>,
    links: Graph,
    classes: Option<Classes>,
    report: FitReport,
}

impl Fitted {
    /// With what is not the model's own in the content of `fit.json`.
    fn stored(self, mut fit: Map<String, Value>) -> Result<Stored> {
        if let Value::Object(known) = fit_json(&self, &Map::new())? {
            fit.retain(|name, _| !known.contains_key(name));
        }
        Ok(Stored {
            model: self,
            record: fit,
        })
    }
}

impl Classes {
    /// The classes of nodes by labels: numbers in their order, other names by
    /// letter.
    pub fn new(labels: &Labels, ids: &Ids) -> Classes {
        let names = labels.classes();
        let name = |place: &u32| names.name(*place as usize);
        let mut order: Vec<u32> = (0..names.len() as u32).collect();
        order.sort_by(|a, b| {
            let number = |place: &u32| name(place).parse::<f64>().unwrap_or(f64::INFINITY);
            let numbers = number(a).total_cmp(&number(b));
            numbers.then_with(|| name(a).cmp(name(b)))
        });
        let mut rank = vec![0; order.len()];
        for (place, &class) in order.iter().enumerate() {
            rank[class as usize] = place as u32;
        }
        let codes = labels.of(ids).into_iter();
        Classes {
            names: order.iter().map(|place| name(place).to_owned()).collect(),
            codes: codes
                .map(|code| code.map(|code| rank[code as usize]))
                .collect(),
        }
    }
}

/// The links of the fit, between the model's rows.
fn load_links(folder: &Path, ids: &Ids) -> Result<Graph> {
    let path = folder.join(LINKS);
    // A build without Parquet writes links.csv.
    let other = folder.join("links.csv");
    let path = if other.exists() && !path.exists() {
        other
    } else {
        path
    };
    let links = read_links(&path, &Default::default())?;
    let data = Dataset::with_nodes(links, ids.clone());
    let data = data.map_err(|error| match error {
        Error::UnknownNode { id } => {
            let expected = format!("links between the nodes of {NODES} beside it");
            Error::input(&path, None, format!("node {}", quote(&id)), expected)
        }
        other => damaged(&path, &other),
    })?;
    data.user_graph()
}

/// What `fit.json` holds: the report, and all of it.
fn load_report(path: &Path, text: &str) -> Result<(FitReport, Map<String, Value>)> {
    let wrong = |error: serde_json::Error| {
        let line = error.line() as u64;
        Error::input(path, line, error.to_string(), "the report of a fit")
    };
    let report = serde_json::from_str(text).map_err(wrong)?;
    Ok((report, serde_json::from_str(text).map_err(wrong)?))
}

fn load_nodes(path: &Path, views: &[FittedView]) -> Result<(Ids, Vec<u32>)> {
    let (ids, names, _) = read_nodes(path)?.into_parts();
    let node_views = match names {
        None if views.len() == 1 => vec![0; ids.len()],
        None => {
            return Err(Error::input(
                path,
                None,
                "no column 'view'",
                "a view for each node",
            ));
        }
        Some(names) => names
            .iter()
            .map(|name| {
                let place = views.iter().position(|view| view.name == *name);
                place.map(|place| place as u32).ok_or_else(|| {
                    Error::input(
                        path,
                        None,
                        format!("view {}", quote(name)),
                        "a view of the model",
                    )
                })
            })
            .collect::<Result<_>>()?,
    };
    for (place, view) in views.iter().enumerate() {
        let members = node_views
            .iter()
            .filter(|&&view| view as usize == place)
            .count();
        if view.network.is_table() && view.network.spec().inputs != members {
            return Err(Error::input(
                path,
                None,
                format!("{members} nodes"),
                format!(
                    "{} nodes, as the model's table has",
                    view.network.spec().inputs
                ),
            ));
        }
    }
    let rows = (0..ids.len()).all(|row| crate::ids::row_number(&ids.name(row)) == Some(row as u32));
    Ok((if rows { Ids::Rows(ids.len()) } else { ids }, node_views))
}

fn load_embeddings(path: &Path, n: usize, dim: usize) -> Result<Vec<f32>> {
    let matrix = read_npy(path)?;
    if (matrix.n_rows(), matrix.n_columns()) != (n, dim) {
        return Err(Error::input(
            path,
            None,
            format!("{} x {} numbers", matrix.n_rows(), matrix.n_columns()),
            format!("{n} x {dim}: a row for each line of {NODES}"),
        ));
    }
    match matrix {
        Matrix::Dense(dense) => match dense.into_values() {
            Values::F32(values) => Ok(values.into_vec()),
            Values::F64(_) => Err(Error::input(
                path,
                None,
                "double precision",
                "single precision",
            )),
        },
        Matrix::Sparse(_) => Err(Error::input(path, None, "a sparse matrix", "a dense one")),
    }
}

/// A model file that has been taken apart but not believed yet.
struct Reader<'a> {
    path: &'a Path,
    /// The bytes of it all.
    size: usize,
    tensors: SafeTensors<'a>,
    metadata: HashMap<String, String>,
}

impl<'a> Reader<'a> {
    fn new(path: &'a Path, bytes: &'a [u8]) -> Result<Reader<'a>> {
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| damaged(path, &error))?;
        let (_, metadata) =
            SafeTensors::read_metadata(bytes).map_err(|error| damaged(path, &error))?;
        let metadata = metadata.metadata().clone().unwrap_or_default();
        let field = |name: &str| metadata.get(name).map_or("none", String::as_str);
        if field("format") != "linkproof" {
            return Err(damaged(path, &"it was not written by linkproof"));
        }
        if field("version") != VERSION {
            return Err(Error::input(
                path,
                None,
                format!("a model of format version {}", field("version")),
                format!("version {VERSION}: fit again, or use the linkproof that wrote it"),
            ));
        }
        Ok(Reader {
            path,
            size: bytes.len(),
            tensors,
            metadata,
        })
    }

    fn json<T: DeserializeOwned>(&self, name: &str) -> Result<T> {
        let text = self.metadata.get(name).map_or("", String::as_str);
        serde_json::from_str(text).map_err(|error| damaged(self.path, &error))
    }

    fn described(&self) -> Result<Described> {
        let described: Described = self.json("model")?;
        let checked = described.params.clone().check();
        checked.map_err(|error| damaged(self.path, &error))?;
        Ok(described)
    }

    /// The model of all parts.
    fn model(&self, described: Described, rest: Rest) -> Result<Fitted> {
        let (params, n_views) = (described.params, rest.views.len());
        let mut gamma = ViewMatrix::filled(n_views, 0.0);
        let entries = self.f64s("gamma", &[n_views, n_views])?;
        for d in 0..n_views {
            for e in d..n_views {
                gamma.set(d, e, entries[d * n_views + e]);
            }
        }
        let averaged = match rest.averages {
            Some(embeddings) => Some(Averaged {
                embeddings,
                maps: self.maps(&rest.views, params.dim)?,
            }),
            None => None,
        };
        let spec = rest.views.first().map(|view| view.network.spec());
        let spec = spec.filter(|spec| params.propagate > 0 && spec.kind != EncoderKind::Table);
        let neighborhood = spec.map(|spec| self.neighborhood(&rest.ids, spec.inputs));
        let believed = match described.believed {
            Some(about) => {
                let numbers = about.numbers.into_iter().map(|name| {
                    let numbers =
                        self.any_f64s(&numbers_of_links(&name), &[rest.links.n_links()])?;
                    Ok((name, numbers))
                });
                Some(Believed {
                    numbers: numbers.collect::<Result<_>>()?,
                    abstained: about.abstained,
                    judge_ridge: about.judge_ridge,
                    rounds: about.rounds,
                    vectors: self.vectors(&rest.views, &rest.node_views)?,
                })
            }
            None => None,
        };
        let k = self.f64s("k", &[1])?[0];
        let parts = ModelParts {
            params,
            views: rest.views,
            view_pairs: described.view_pairs,
            gamma,
            ids: rest.ids,
            node_views: rest.node_views,
            embeddings: rest.embeddings,
            averaged,
            neighborhood: neighborhood.transpose()?,
            links: rest.links,
            believed,
            classes: rest.classes,
            report: FitReport { k, ..rest.report },
        };
        Fitted::new(parts).map_err(|error| damaged(self.path, &error))
    }

    /// The data vectors of each view's nodes, where there are any at all.
    fn vectors(&self, views: &[FittedView], node_views: &[u32]) -> Result<Vec<Option<Matrix>>> {
        let vectors = views.iter().enumerate().map(|(place, view)| {
            let before = vectors_of(place);
            if !self.has(&format!("{before}.values")) {
                return Ok(None);
            }
            let members = node_views.iter().filter(|&&view| view as usize == place);
            let n_columns = view.network.spec().inputs;
            self.matrix(&before, members.count(), n_columns).map(Some)
        });
        let vectors: Vec<Option<Matrix>> = vectors.collect::<Result<_>>()?;
        let known = vectors.iter().any(Option::is_some);
        Ok(if known { vectors } else { Vec::new() })
    }

    fn has(&self, name: &str) -> bool {
        self.tensors.names().contains(&name)
    }

    fn find(&self, name: &str) -> Result<TensorView<'a>> {
        let found = self.tensors.tensor(name);
        found.map_err(|error| damaged(self.path, &error))
    }

    fn tensor(&self, name: &str, shape: &[usize]) -> Result<TensorView<'a>> {
        let tensor = self.find(name)?;
        if tensor.shape() != shape {
            let why = format!(
                "'{name}' has the shape {:?}, expected {shape:?}",
                tensor.shape()
            );
            return Err(damaged(self.path, &why));
        }
        Ok(tensor)
    }

    /// Finite numbers.
    fn values(&self, name: &str, shape: &[usize]) -> Result<Values> {
        let values = self.numbers(name, shape)?;
        if (0..values.len()).any(|place| !values.get(place).is_finite()) {
            return Err(damaged(
                self.path,
                &format!("'{name}' holds numbers that are not finite"),
            ));
        }
        Ok(values)
    }

    fn numbers(&self, name: &str, shape: &[usize]) -> Result<Values> {
        let tensor = self.tensor(name, shape)?;
        let (singles, doubles) = (
            tensor.data().as_chunks::<4>().0,
            tensor.data().as_chunks().0,
        );
        Ok(match tensor.dtype() {
            Dtype::F32 => Vec::from_iter(singles.iter().map(|b| f32::from_le_bytes(*b))).into(),
            Dtype::F64 => Vec::from_iter(doubles.iter().map(|b| f64::from_le_bytes(*b))).into(),
            other => return Err(damaged(self.path, &format!("'{name}' holds {other:?}"))),
        })
    }

    fn f64s(&self, name: &str, shape: &[usize]) -> Result<Vec<f64>> {
        self.double(name, self.values(name, shape)?)
    }

    /// The same of numbers that may be infinite, or none.
    fn any_f64s(&self, name: &str, shape: &[usize]) -> Result<Vec<f64>> {
        self.double(name, self.numbers(name, shape)?)
    }

    fn double(&self, name: &str, values: Values) -> Result<Vec<f64>> {
        match values {
            Values::F64(values) => Ok(values.into_vec()),
            Values::F32(_) => {
                let why = format!("'{name}' is in single precision");
                Err(damaged(self.path, &why))
            }
        }
    }

    fn f32s(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        match self.values(name, shape)? {
            Values::F32(values) => Ok(values.into_vec()),
            Values::F64(_) => {
                let why = format!("'{name}' is in double precision");
                Err(damaged(self.path, &why))
            }
        }
    }

    fn u32s(&self, name: &str, tensor: &TensorView<'a>) -> Result<Vec<u32>> {
        if tensor.dtype() != Dtype::U32 {
            return Err(damaged(
                self.path,
                &format!("'{name}' holds {:?}", tensor.dtype()),
            ));
        }
        Ok(tensor
            .data()
            .as_chunks::<4>()
            .0
            .iter()
            .map(|b| u32::from_le_bytes(*b))
            .collect())
    }

    fn views(&self, described: Vec<DescribedView>, dim: usize) -> Result<Vec<FittedView>> {
        let views = described.into_iter().enumerate();
        views
            .map(|(place, view)| self.view(place, view, dim))
            .collect()
    }

    fn view(&self, place: usize, described: DescribedView, dim: usize) -> Result<FittedView> {
        // The shape is believed only where the file can hold its weights.
        let (spec, size) = (&described.spec, self.size);
        let mut widths = vec![spec.inputs];
        if spec.kind == EncoderKind::Mlp {
            widths.extend(&spec.hidden);
        }
        widths.push(spec.outputs);
        let weights: u128 = widths
            .windows(2)
            .map(|pair| pair[0] as u128 * pair[1] as u128)
            .sum();
        if spec.outputs != dim
            || weights > size as u128
            || widths.iter().any(|&width| width == 0 || width > size)
        {
            return Err(damaged(self.path, &"its shape does not fit its weights"));
        }
        let network = Network::new(described.spec);
        let mut parts = Vec::new();
        let mut statistics = Statistics::default();
        for (depth, layer) in network.layers().iter().enumerate() {
            let name = |part: &str| format!("views.{place}.layers.{depth}.{part}");
            // In the order in which the layout places them.
            let weights = self.values(&name("weight"), &[layer.inputs, layer.outputs])?;
            parts.push(match weights {
                Values::F32(rows) => layer.in_strips(&rows).into(),
                Values::F64(rows) => layer.in_strips(&rows).into(),
            });
            if layer.bias.is_some() {
                parts.push(self.values(&name("bias"), &[layer.outputs])?);
            }
            if layer.norm.is_some() {
                parts.push(self.values(&name("norm.scale"), &[layer.outputs])?);
                parts.push(self.values(&name("norm.shift"), &[layer.outputs])?);
                statistics
                    .mean
                    .push(self.f64s(&name("norm.mean"), &[layer.outputs])?);
                statistics
                    .variance
                    .push(self.f64s(&name("norm.variance"), &[layer.outputs])?);
            }
        }
        let weights = joined(parts);
        if weights.len() != network.n_params()
            || statistics.variance.iter().flatten().any(|&x| x < 0.0)
        {
            return Err(damaged(self.path, &"its weights do not fit its shape"));
        }
        Ok(FittedView {
            name: described.name,
            network,
            weights,
            statistics,
        })
    }

    /// For each view what data vectors tell of averages, where that is known.
    fn maps(&self, views: &[FittedView], dim: usize) -> Result<Vec<Option<Vec<f32>>>> {
        let map = |(place, view): (usize, &FittedView)| {
            let name = averages_of(place);
            match self.has(&name) {
                true => self
                    .f32s(&name, &[view.network.spec().inputs, dim])
                    .map(Some),
                false => Ok(None),
            }
        };
        views.iter().enumerate().map(map).collect()
    }

    fn neighborhood(&self, ids: &Ids, n_columns: usize) -> Result<Neighborhood> {
        let name = "neighborhood.links";
        let ends = self.u32s(name, &self.find(name)?)?;
        let weight = 1.0;
        let links = ends.as_chunks::<2>().0.iter();
        let links = links.map(|&[src, dst]| Link { src, dst, weight });
        let graph = Graph::new(Ids::Rows(ids.len()), links.collect(), LinkRules::default())
            .map_err(|error| damaged(self.path, &error))?;
        let matrix = self.matrix("neighborhood", ids.len(), n_columns)?;
        Ok(Neighborhood { graph, matrix })
    }

    /// Data vectors of so many nodes, dense or by their entries.
    fn matrix(&self, before: &str, n: usize, n_columns: usize) -> Result<Matrix> {
        let [offsets, columns, values] =
            ["offsets", "columns", "values"].map(|name| format!("{before}.{name}"));
        let matrix = if self.has(&offsets) {
            let offsets = self.find(&offsets)?;
            let offsets = offsets.data().as_chunks::<8>().0.iter();
            let offsets: Vec<usize> = offsets.map(|b| u64::from_le_bytes(*b) as usize).collect();
            let columns = self.u32s(&columns, &self.find(&columns)?)?;
            let values = self.values(&values, &[columns.len()])?;
            Matrix::sparse(n_columns, offsets, columns, values)
        } else {
            Matrix::dense(n, n_columns, self.values(&values, &[n, n_columns])?)
        };
        let matrix = matrix.map_err(|error| damaged(self.path, &error))?;
        if matrix.n_rows() != n {
            return Err(damaged(self.path, &"its data vectors do not fit its nodes"));
        }
        Ok(matrix)
    }
}

/// One list, in the precision of the first part.
fn joined(parts: Vec<Values>) -> Values {
    let length = parts.iter().map(Values::len).sum();
    if let Some(Values::F64(_)) = parts.first() {
        let mut all: Vec<f64> = Vec::with_capacity(length);
        for part in &parts {
            match part {
                Values::F32(more) => all.extend(more.iter().map(|&x| f64::from(x))),
                Values::F64(more) => all.extend_from_slice(more),
            }
        }
        return all.into();
    }
    let mut all: Vec<f32> = Vec::with_capacity(length);
    for part in &parts {
        match part {
            Values::F32(more) => all.extend_from_slice(more),
            Values::F64(more) => all.extend(more.iter().map(|&x| x as f32)),
        }
    }
    all.into()
}
