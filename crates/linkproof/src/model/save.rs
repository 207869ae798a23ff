//! Saving a model folder.
//!
//! The safetensors file is written here rather than by its crate, whose header
//! has its metadata in random order and which needs the whole file in memory:
//! ours has the same bytes every time and streams the weights.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::Fitted;
use super::averaged::averages_of;
use super::files::{
    Described, DescribedView, EMBEDDINGS, EMBEDDINGS_PLAIN, FIT, LINKS, MODEL, NODES, VERSION,
};
use crate::encoder::Layer;
use crate::error::{Error, Result};
use crate::features::{Matrix, Values};
use crate::graph::Graph;
use crate::io::{OutputFolder, write_file, write_links, write_nodes, write_npy};

impl Fitted {
    /// Writes the files of a model folder. `links` are those of the fit, between
    /// the user's rows; `extra` goes into `fit.json` as it is.
    pub fn save(
        &self,
        links: &Graph,
        folder: &OutputFolder,
        extra: Map<String, Value>,
    ) -> Result<()> {
        let described = Described {
            params: self.params.clone(),
            views: self
                .views
                .iter()
                .map(|view| DescribedView {
                    name: view.name.clone(),
                    spec: view.network.spec().clone(),
                })
                .collect(),
            view_pairs: self.view_pairs.clone(),
        };
        let metadata = BTreeMap::from([
            ("format", "linkproof".to_owned()),
            ("version", VERSION.to_owned()),
            ("model", to_value(&described)?.to_string()),
        ]);
        write_tensors(&folder.file(MODEL), &metadata, &self.tensors())?;
        let names: Vec<String> = self
            .node_views
            .iter()
            .map(|&view| self.views[view as usize].name.clone())
            .collect();
        let several = self.views.len() > 1;
        write_nodes(folder.file(NODES), &self.ids, several.then_some(&names))?;
        let write = |name: &str, values: &[f32]| {
            write_npy(folder.file(name), self.n_nodes(), self.dim(), values)
        };
        write(EMBEDDINGS, self.recommended())?;
        if self.averaged.is_some() {
            write(EMBEDDINGS_PLAIN, &self.embeddings)?;
        }
        write_links(folder.file(LINKS), links)?;
        let fit = self.fit_json(extra)?;
        write_file(folder.file(FIT), |file| {
            serde_json::to_writer_pretty(&mut *file, &fit)?;
            file.write_all(b"\n")
        })
    }

    /// The content of `fit.json`: report, parameters and `extra` side by side.
    pub fn fit_json(&self, extra: Map<String, Value>) -> Result<Value> {
        let mut fit = Map::new();
        fit.insert("format_version".into(), VERSION.into());
        fit.insert("params".into(), to_value(&self.params)?);
        fit.insert("seed".into(), self.params.seed.into());
        fit.insert("gamma".into(), self.gamma_json());
        if let Value::Object(report) = to_value(&self.report)? {
            fit.extend(report);
        }
        fit.extend(extra);
        Ok(fit.into())
    }

    /// `gamma`: a number for one view, else a number for each pair of views.
    pub fn gamma_json(&self) -> Value {
        match self.view_pairs.as_slice() {
            [(d, e)] if self.views.len() == 1 => json!(self.gamma.get(*d, *e)),
            pairs => pairs
                .iter()
                .map(|&(d, e)| {
                    let name = format!("{}:{}", self.views[d].name, self.views[e].name);
                    (name, json!(self.gamma.get(d, e)))
                })
                .collect::<Map<String, Value>>()
                .into(),
        }
    }

    fn tensors(&self) -> Vec<(String, Tensor<'_>)> {
        let n_views = self.views.len();
        let gamma: Vec<f64> = (0..n_views)
            .flat_map(|d| (0..n_views).map(move |e| (d, e)))
            .map(|(d, e)| self.gamma.get(d, e))
            .collect();
        let mut tensors = vec![
            (
                "gamma".to_owned(),
                Tensor::bytes(
                    "F64",
                    vec![n_views, n_views],
                    gamma.iter().map(|x| x.to_le_bytes()),
                ),
            ),
            (
                "k".to_owned(),
                Tensor::bytes("F64", vec![1], [self.report.k.to_le_bytes()]),
            ),
        ];
        for (place, view) in self.views.iter().enumerate() {
            let statistics = view.statistics.mean.iter().zip(&view.statistics.variance);
            let mut statistics =
                statistics.map(|(mean, variance)| (mean.as_slice(), variance.as_slice()));
            for (depth, layer) in view.network.layers().iter().enumerate() {
                let width = vec![layer.outputs];
                let mut put = |name: &str, tensor| {
                    tensors.push((format!("views.{place}.layers.{depth}.{name}"), tensor));
                };
                let weights = |shape, range: &Range<usize>| {
                    Tensor::values(shape, &view.weights, range.clone())
                };
                put("weight", Tensor::weights(layer, &view.weights));
                if let Some(bias) = &layer.bias {
                    put("bias", weights(width.clone(), bias));
                }
                if let (Some(norm), Some((mean, variance))) = (
                    &layer.norm,
                    layer.norm.as_ref().and_then(|_| statistics.next()),
                ) {
                    put("norm.scale", weights(width.clone(), &norm.scale));
                    put("norm.shift", weights(width.clone(), &norm.shift));
                    put(
                        "norm.mean",
                        Tensor {
                            shape: width.clone(),
                            numbers: Numbers::F64(mean),
                        },
                    );
                    put(
                        "norm.variance",
                        Tensor {
                            shape: width,
                            numbers: Numbers::F64(variance),
                        },
                    );
                }
            }
        }
        let maps = self.averaged.iter().flat_map(|averaged| &averaged.maps);
        for (place, map) in maps.enumerate() {
            if let Some(map) = map {
                let shape = vec![map.len() / self.dim(), self.dim()];
                let numbers = Numbers::F32(map);
                tensors.push((averages_of(place), Tensor { shape, numbers }));
            }
        }
        if let Some(neighborhood) = &self.neighborhood {
            let ends = neighborhood
                .graph
                .links()
                .flat_map(|link| [link.src, link.dst].map(u32::to_le_bytes));
            tensors.push((
                "neighborhood.links".into(),
                Tensor::bytes("U32", vec![neighborhood.graph.n_links(), 2], ends),
            ));
            match &neighborhood.matrix {
                Matrix::Dense(dense) => {
                    let shape = vec![dense.n_rows(), dense.n_columns()];
                    tensors.push((
                        "neighborhood.values".into(),
                        Tensor::values(shape, dense.values(), 0..dense.values().len()),
                    ));
                }
                Matrix::Sparse(sparse) => {
                    let stored = sparse.columns().len();
                    let starts = sparse.offsets();
                    let offsets = starts.iter().map(|&x| (x as u64).to_le_bytes());
                    let columns = sparse.columns().iter().map(|x| x.to_le_bytes());
                    tensors.push((
                        "neighborhood.offsets".into(),
                        Tensor::bytes("U64", vec![starts.len()], offsets),
                    ));
                    tensors.push((
                        "neighborhood.columns".into(),
                        Tensor::bytes("U32", vec![stored], columns),
                    ));
                    tensors.push((
                        "neighborhood.values".into(),
                        Tensor::values(vec![stored], sparse.values(), 0..stored),
                    ));
                }
            }
        }
        tensors
    }
}

struct Tensor<'a> {
    shape: Vec<usize>,
    numbers: Numbers<'a>,
}

enum Numbers<'a> {
    F32(&'a [f32]),
    F64(&'a [f64]),
    Bytes(&'static str, Vec<u8>),
}

impl<'a> Tensor<'a> {
    /// A layer's weights, row after row.
    fn weights(layer: &Layer, values: &'a Values) -> Tensor<'a> {
        let shape = vec![layer.inputs, layer.outputs];
        let place = layer.weights.clone();
        if layer.strip >= layer.outputs {
            return Tensor::values(shape, values, place);
        }
        match values {
            Values::F32(values) => {
                let rows = layer.row_major(&values[place]);
                Tensor::bytes("F32", shape, rows.iter().map(|x| x.to_le_bytes()))
            }
            Values::F64(values) => {
                let rows = layer.row_major(&values[place]);
                Tensor::bytes("F64", shape, rows.iter().map(|x| x.to_le_bytes()))
            }
        }
    }

    fn values(shape: Vec<usize>, values: &'a Values, range: Range<usize>) -> Tensor<'a> {
        let numbers = match values {
            Values::F32(values) => Numbers::F32(&values[range]),
            Values::F64(values) => Numbers::F64(&values[range]),
        };
        Tensor { shape, numbers }
    }

    fn bytes<const N: usize>(
        dtype: &'static str,
        shape: Vec<usize>,
        numbers: impl IntoIterator<Item = [u8; N]>,
    ) -> Tensor<'a> {
        Tensor {
            shape,
            numbers: Numbers::Bytes(dtype, numbers.into_iter().flatten().collect()),
        }
    }

    fn dtype(&self) -> &'static str {
        match self.numbers {
            Numbers::F32(_) => "F32",
            Numbers::F64(_) => "F64",
            Numbers::Bytes(dtype, _) => dtype,
        }
    }

    fn size(&self) -> usize {
        match &self.numbers {
            Numbers::F32(values) => 4 * values.len(),
            Numbers::F64(values) => 8 * values.len(),
            Numbers::Bytes(_, bytes) => bytes.len(),
        }
    }

    fn write(&self, file: &mut impl Write) -> io::Result<()> {
        match &self.numbers {
            Numbers::F32(values) => values
                .iter()
                .try_for_each(|x| file.write_all(&x.to_le_bytes())),
            Numbers::F64(values) => values
                .iter()
                .try_for_each(|x| file.write_all(&x.to_le_bytes())),
            Numbers::Bytes(_, bytes) => file.write_all(bytes),
        }
    }
}

/// A safetensors file: the length of a JSON header, the header, the numbers.
fn write_tensors(
    path: &Path,
    metadata: &BTreeMap<&str, String>,
    tensors: &[(String, Tensor<'_>)],
) -> Result<()> {
    let mut header: BTreeMap<&str, Value> = BTreeMap::new();
    header.insert("__metadata__", json!(metadata));
    let mut start = 0;
    for (name, tensor) in tensors {
        let end = start + tensor.size();
        header.insert(
            name,
            json!({ "dtype": tensor.dtype(), "shape": tensor.shape, "data_offsets": [start, end] }),
        );
        start = end;
    }
    let mut header = to_value(&header)?.to_string();
    header.push_str(&" ".repeat(header.len().next_multiple_of(8) - header.len()));
    write_file(path, |file| {
        file.write_all(&(header.len() as u64).to_le_bytes())?;
        file.write_all(header.as_bytes())?;
        tensors
            .iter()
            .try_for_each(|(_, tensor)| tensor.write(file))
    })
}

fn to_value(value: &impl Serialize) -> Result<Value> {
    serde_json::to_value(value)
        .map_err(|error| Error::data("model", error.to_string(), "plain values"))
}
