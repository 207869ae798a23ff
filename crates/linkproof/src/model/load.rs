//! Loading a model folder. Nothing in it is believed before it is checked: a
//! damaged or hostile folder gives an error.

use std::collections::HashMap;
use std::path::Path;

use safetensors::{Dtype, SafeTensors, tensor::TensorView};

use super::averaged::{Averaged, averages_of};
use super::files::{
    Described, DescribedView, EMBEDDINGS, EMBEDDINGS_PLAIN, FIT, LINKS, MODEL, NODES, VERSION,
    damaged,
};
use super::{FitReport, Fitted, FittedView, Neighborhood};
use crate::dataset::Dataset;
use crate::encoder::{Network, Statistics};
use crate::error::{Error, Result, quote};
use crate::features::{Matrix, Values};
use crate::graph::{Graph, Link, LinkRules};
use crate::ids::Ids;
use crate::io::{read_links, read_nodes, read_npy, read_text};
use crate::pairs::ViewMatrix;
use crate::params::EncoderKind;

impl Fitted {
    /// Loads a model folder.
    pub fn load(folder: impl AsRef<Path>) -> Result<Fitted> {
        let folder = folder.as_ref();
        let path = folder.join(MODEL);
        let bytes = std::fs::read(&path).map_err(|source| Error::read(&path, source))?;
        let reader = Reader::new(&path, &bytes)?;
        let described = reader.described()?;
        let params = described
            .params
            .clone()
            .check()
            .map_err(|error| damaged(&path, &error))?;
        let n_views = described.views.len();
        let mut gamma = ViewMatrix::filled(n_views, 0.0);
        let entries = reader.f64s("gamma", &[n_views, n_views])?;
        for d in 0..n_views {
            for e in d..n_views {
                gamma.set(d, e, entries[d * n_views + e]);
            }
        }
        let views = described
            .views
            .into_iter()
            .enumerate()
            .map(|(place, view)| reader.view(place, view, params.dim, bytes.len()))
            .collect::<Result<Vec<_>>>()?;
        let (ids, node_views) = load_nodes(&folder.join(NODES), &views)?;
        let recommended = load_embeddings(&folder.join(EMBEDDINGS), ids.len(), params.dim)?;
        // Expected weights belong to the embeddings of the encoder.
        let plain = folder.join(EMBEDDINGS_PLAIN);
        let (embeddings, averaged) = match plain.exists() {
            false => (recommended, None),
            true => {
                let averaged = Averaged {
                    embeddings: recommended,
                    maps: reader.maps(&views, params.dim)?,
                };
                let plain = load_embeddings(&plain, ids.len(), params.dim)?;
                (plain, Some(averaged))
            }
        };
        let pairs_fit = described
            .view_pairs
            .iter()
            .all(|&(d, e)| d <= e && e < n_views);
        if n_views == 0 || described.view_pairs.is_empty() || !pairs_fit {
            return Err(damaged(
                &path,
                &"views and pairs of views that do not fit together",
            ));
        }
        let neighborhood = (params.propagate > 0
            && views[0].network.spec().kind != EncoderKind::Table)
            .then(|| reader.neighborhood(&ids, views[0].network.spec().inputs))
            .transpose()?;
        let mut report = load_report(&folder.join(FIT))?;
        report.k = reader.f64s("k", &[1])?[0];
        Ok(Fitted {
            params: params.given().clone(),
            views,
            view_pairs: described.view_pairs,
            gamma,
            ids,
            node_views,
            embeddings,
            averaged,
            neighborhood,
            report,
        })
    }
}

impl Fitted {
    /// The links of the fit, between the model's rows, from its folder.
    pub fn load_links(&self, folder: impl AsRef<Path>) -> Result<Graph> {
        let path = folder.as_ref().join(LINKS);
        // A build without Parquet writes links.csv.
        let other = folder.as_ref().join("links.csv");
        let path = if other.exists() && !path.exists() {
            other
        } else {
            path
        };
        let links = read_links(&path, &Default::default())?;
        let data = Dataset::with_nodes(links, self.ids.clone());
        let data = data.map_err(|error| match error {
            Error::UnknownNode { id } => {
                let expected = format!("links between the nodes of {NODES} beside it");
                Error::input(&path, None, format!("node {}", quote(&id)), expected)
            }
            other => damaged(&path, &other),
        })?;
        data.user_graph()
    }
}

fn load_report(path: &Path) -> Result<FitReport> {
    let text = read_text(path)?;
    serde_json::from_str(&text).map_err(|error| {
        Error::input(
            path,
            error.line() as u64,
            error.to_string(),
            "the report of a fit",
        )
    })
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
            tensors,
            metadata,
        })
    }

    fn described(&self) -> Result<Described> {
        let text = self.metadata.get("model").map_or("", String::as_str);
        serde_json::from_str(text).map_err(|error| damaged(self.path, &error))
    }

    fn tensor(&self, name: &str, shape: &[usize]) -> Result<TensorView<'a>> {
        let tensor = self
            .tensors
            .tensor(name)
            .map_err(|error| damaged(self.path, &error))?;
        if tensor.shape() != shape {
            let why = format!(
                "'{name}' has the shape {:?}, expected {shape:?}",
                tensor.shape()
            );
            return Err(damaged(self.path, &why));
        }
        Ok(tensor)
    }

    fn values(&self, name: &str, shape: &[usize]) -> Result<Values> {
        let tensor = self.tensor(name, shape)?;
        let values: Values = match tensor.dtype() {
            Dtype::F32 => tensor
                .data()
                .as_chunks::<4>()
                .0
                .iter()
                .map(|b| f32::from_le_bytes(*b))
                .collect::<Vec<_>>()
                .into(),
            Dtype::F64 => tensor
                .data()
                .as_chunks::<8>()
                .0
                .iter()
                .map(|b| f64::from_le_bytes(*b))
                .collect::<Vec<_>>()
                .into(),
            other => return Err(damaged(self.path, &format!("'{name}' holds {other:?}"))),
        };
        if (0..values.len()).any(|place| !values.get(place).is_finite()) {
            return Err(damaged(
                self.path,
                &format!("'{name}' holds numbers that are not finite"),
            ));
        }
        Ok(values)
    }

    fn f64s(&self, name: &str, shape: &[usize]) -> Result<Vec<f64>> {
        match self.values(name, shape)? {
            Values::F64(values) => Ok(values.into_vec()),
            Values::F32(_) => Err(damaged(
                self.path,
                &format!("'{name}' is in single precision"),
            )),
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

    fn view(
        &self,
        place: usize,
        described: DescribedView,
        dim: usize,
        size: usize,
    ) -> Result<FittedView> {
        // The shape is believed only where the file can hold its weights.
        let spec = &described.spec;
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
            if !self.tensors.names().contains(&name.as_str()) {
                return Ok(None);
            }
            let shape = [view.network.spec().inputs, dim];
            match self.values(&name, &shape)? {
                Values::F32(values) => Ok(Some(values.into_vec())),
                Values::F64(_) => {
                    let why = format!("'{name}' is in double precision");
                    Err(damaged(self.path, &why))
                }
            }
        };
        views.iter().enumerate().map(map).collect()
    }

    fn neighborhood(&self, ids: &Ids, n_columns: usize) -> Result<Neighborhood> {
        let n = ids.len();
        let find = |name: &str| {
            self.tensors
                .tensor(name)
                .map_err(|error| damaged(self.path, &error))
        };
        let ends = self.u32s("neighborhood.links", &find("neighborhood.links")?)?;
        let links = ends
            .as_chunks::<2>()
            .0
            .iter()
            .map(|&[src, dst]| Link {
                src,
                dst,
                weight: 1.0,
            })
            .collect();
        let graph = Graph::new(Ids::Rows(n), links, LinkRules::default())
            .map_err(|error| damaged(self.path, &error))?;
        let matrix = if self.tensors.names().contains(&"neighborhood.offsets") {
            let offsets = find("neighborhood.offsets")?;
            let offsets: Vec<usize> = offsets
                .data()
                .as_chunks::<8>()
                .0
                .iter()
                .map(|b| u64::from_le_bytes(*b) as usize)
                .collect();
            let columns = self.u32s("neighborhood.columns", &find("neighborhood.columns")?)?;
            let values = self.values("neighborhood.values", &[columns.len()])?;
            Matrix::sparse(n_columns, offsets, columns, values)
        } else {
            Matrix::dense(
                n,
                n_columns,
                self.values("neighborhood.values", &[n, n_columns])?,
            )
        };
        let matrix = matrix.map_err(|error| damaged(self.path, &error))?;
        if matrix.n_rows() != n {
            return Err(damaged(self.path, &"its data vectors do not fit its nodes"));
        }
        Ok(Neighborhood { graph, matrix })
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
