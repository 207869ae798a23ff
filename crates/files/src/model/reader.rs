//! A stored model taken apart, of which nothing is believed before it is checked.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::files::{
    Described, DescribedView, OFFSETS_OF_NODES, VERSION, averages_of, damaged, numbers_of_links,
    offsets_of, replicate_of, vectors_of,
};
use linkproof_method::data::attributes::Attributes;
use linkproof_method::data::features::{Matrix, Values};
use linkproof_method::data::graph::{Graph, Link, LinkRules};
use linkproof_method::data::ids::{Ids, Names, Sides};
use linkproof_method::engine::Real;
use linkproof_method::engine::encoder::{Network, NetworkSpec, Statistics};
use linkproof_method::engine::pairs::ViewMatrix;
use linkproof_method::error::{Error, Result};
use linkproof_method::model::{
    Averaged, Believed, Classes, FitReport, Fitted, FittedView, ModelParts, Neighborhood,
    Replicate, Replicates,
};

/// What a folder and a piece of memory hold in different ways.
pub(super) struct Rest {
    pub(super) views: Vec<FittedView>,
    pub(super) ids: Ids,
    pub(super) node_views: Vec<u32>,
    pub(super) embeddings: Vec<f32>,
    pub(super) averages: Option<Vec<f32>>,
    pub(super) links: Graph,
    pub(super) classes: Option<Classes>,
    pub(super) attributes: Attributes,
    pub(super) report: FitReport,
}

/// A model file that has been taken apart but not believed yet.
pub(super) struct Reader<'a> {
    path: &'a Path,
    /// The bytes of it all.
    size: usize,
    tensors: SafeTensors<'a>,
    metadata: HashMap<String, String>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(path: &'a Path, bytes: &'a [u8]) -> Result<Reader<'a>> {
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

    /// The same where it may be absent, as in a model of an earlier version.
    pub(super) fn optional<T: DeserializeOwned + Default>(&self, name: &str) -> Result<T> {
        match self.metadata.contains_key(name) {
            true => self.json(name),
            false => Ok(T::default()),
        }
    }

    pub(super) fn json<T: DeserializeOwned>(&self, name: &str) -> Result<T> {
        let text = self.metadata.get(name).map_or("", String::as_str);
        serde_json::from_str(text).map_err(|error| damaged(self.path, &error))
    }

    /// The ids of the nodes, where the metadata has them.
    pub(super) fn nodes(&self) -> Result<Option<Ids>> {
        if !self.metadata.contains_key("nodes") {
            return Ok(None);
        }
        self.ids(self.json("nodes")?).map(Some)
    }

    fn ids(&self, nodes: Value) -> Result<Ids> {
        Ok(match nodes {
            Value::Number(n) => Ids::Rows(n.as_u64().unwrap_or_default() as usize),
            Value::Object(mut sides) => {
                let source = self.ids(sides.remove("source").unwrap_or_default())?;
                let target = sides.remove("target").filter(|target| !target.is_null());
                let same = target.is_none();
                let target = target.map(|target| self.ids(target));
                let target = target.unwrap_or_else(|| Ok(source.clone()))?;
                if source.sides().is_some() || target.sides().is_some() {
                    return Err(damaged(self.path, &"its nodes have sides of sides"));
                }
                Ids::Sides(Arc::new(Sides {
                    source,
                    target,
                    same,
                }))
            }
            names => {
                let names: Vec<String> =
                    serde_json::from_value(names).map_err(|error| damaged(self.path, &error))?;
                let mut known = Names::default();
                for name in &names {
                    known.insert(name);
                }
                if known.len() < names.len() {
                    return Err(damaged(self.path, &"it names a node twice"));
                }
                Ids::from(known)
            }
        })
    }

    pub(super) fn described(&self) -> Result<Described> {
        let described: Described = self.json("model")?;
        let checked = described.params.clone().check();
        checked.map_err(|error| damaged(self.path, &error))?;
        Ok(described)
    }

    /// The model of all parts.
    pub(super) fn model(&self, described: Described, rest: Rest) -> Result<Fitted> {
        let (params, n_views) = (described.params, rest.views.len());
        let gamma = self.gamma("gamma", n_views)?;
        let replicates = match described.replicates {
            Some(count) => Some(self.replicates(count, [rest.ids.len(), params.dim], n_views)?),
            None => None,
        };
        let averaged = match rest.averages {
            Some(embeddings) => Some(Averaged {
                embeddings,
                maps: self.maps(&rest.views, params.dim)?,
            }),
            None => None,
        };
        let spec = rest.views.first().map(|view| view.network.spec());
        let reads = |spec: &&NetworkSpec| spec.encoder.kind.reads_vectors();
        let spec = spec.filter(|spec| params.propagate > 0 && reads(spec));
        let neighborhood = spec.map(|spec| self.neighborhood(&rest.ids, spec.inputs));
        let believed = match described.believed {
            Some(about) => {
                let numbers = about.numbers.into_iter().map(|name| {
                    let numbers =
                        self.any_f64s(&numbers_of_links(&name), &[rest.links.n_links()])?;
                    Ok((name, numbers))
                });
                let believed = Believed {
                    numbers: numbers.collect::<Result<_>>()?,
                    abstained: about.abstained,
                    facts: about.facts,
                    rounds: about.rounds,
                    vectors: self.vectors(&rest.views, &rest.node_views)?,
                };
                if believed.facts.is_some() && believed.judgment(&rest.links).is_none() {
                    let why = "numbers about links that are no judgment";
                    return Err(damaged(self.path, &why));
                }
                Some(believed)
            }
            None => None,
        };
        // A table that was edited since may lack the column.
        let attributes = match described.name_column {
            Some(name) => rest
                .attributes
                .clone()
                .shown_by(&name)
                .unwrap_or(rest.attributes),
            None => rest.attributes,
        };
        let attributes = Some(attributes).filter(|it| !it.columns().is_empty());
        let k = self.f64s("k", &[1])?[0];
        let offsets = match params.offsets {
            true => Some(self.f32s(OFFSETS_OF_NODES, &[rest.ids.len()])?),
            false => None,
        };
        let parts = ModelParts {
            params,
            views: rest.views,
            view_pairs: described.view_pairs,
            gamma,
            ids: rest.ids,
            node_views: rest.node_views,
            embeddings: rest.embeddings,
            offsets,
            averaged,
            neighborhood: neighborhood.transpose()?,
            links: rest.links,
            believed,
            sizes: described.sizes,
            classes: rest.classes,
            attributes,
            replicates,
            report: FitReport { k, ..rest.report },
        };
        Fitted::new(parts).map_err(|error| damaged(self.path, &error))
    }

    fn gamma(&self, name: &str, n_views: usize) -> Result<ViewMatrix> {
        let mut gamma = ViewMatrix::filled(n_views, 0.0);
        let entries = self.f64s(name, &[n_views, n_views])?;
        for d in 0..n_views {
            for e in d..n_views {
                gamma.set(d, e, entries[d * n_views + e]);
            }
        }
        Ok(gamma)
    }

    /// Fits to parts of the nodes; the first is to all.
    fn replicates(&self, count: usize, shape: [usize; 2], n_views: usize) -> Result<Replicates> {
        let one = |number: usize| {
            let before = replicate_of(number);
            let has = format!("{before}.has");
            let has = match self.has(&has) {
                true => Some(self.u32s(&has, &self.tensor(&has, &shape[..1])?)?),
                false => None,
            };
            let offsets = format!("{before}.offsets");
            let offsets = match self.has(&offsets) {
                true => Some(self.f32s(&offsets, &shape[..1])?),
                false => None,
            };
            Ok(Replicate {
                offsets,
                embeddings: self.f32s(&format!("{before}.embeddings"), &shape)?,
                has: has.map(|has| has.into_iter().map(|has| has != 0).collect()),
                gamma: self.gamma(&format!("{before}.gamma"), n_views)?,
            })
        };
        Ok(Replicates {
            whole: one(0)?,
            parts: (1..=count).map(one).collect::<Result<_>>()?,
        })
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

    pub(super) fn has(&self, name: &str) -> bool {
        self.tensors.names().contains(&name)
    }

    pub(super) fn find(&self, name: &str) -> Result<TensorView<'a>> {
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

    pub(super) fn f64s(&self, name: &str, shape: &[usize]) -> Result<Vec<f64>> {
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

    pub(super) fn f32s(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>> {
        match self.values(name, shape)? {
            Values::F32(values) => Ok(values.into_vec()),
            Values::F64(_) => {
                let why = format!("'{name}' is in double precision");
                Err(damaged(self.path, &why))
            }
        }
    }

    pub(super) fn u32s(&self, name: &str, tensor: &TensorView<'a>) -> Result<Vec<u32>> {
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

    pub(super) fn views(&self, described: &Described) -> Result<Vec<FittedView>> {
        let (views, dim) = (described.views.iter().enumerate(), described.params.dim);
        views
            .map(|(place, view)| {
                let mut view = self.view(place, view, dim)?;
                if described.params.offsets && !view.network.is_table() {
                    let inputs = view.network.spec().inputs;
                    view.offsets = Some(self.values(&offsets_of(place), &[inputs])?);
                }
                Ok(view)
            })
            .collect()
    }

    fn view(&self, place: usize, described: &DescribedView, dim: usize) -> Result<FittedView> {
        // The shape is believed only where the file can hold its weights.
        let (spec, size) = (&described.spec, self.size);
        let mut widths = vec![spec.inputs];
        widths.extend(spec.layers().iter().map(|layer| layer.outputs));
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
        let network = Network::new(described.spec.clone());
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
            name: described.name.clone(),
            network,
            weights,
            statistics,
            offsets: None,
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
    fn all<T: Real>(parts: &[Values]) -> Vec<T> {
        let parts = parts.iter().map(Values::cast::<T>);
        parts.flat_map(Cow::into_owned).collect()
    }
    match parts.first() {
        Some(Values::F64(_)) => all::<f64>(&parts).into(),
        _ => all::<f32>(&parts).into(),
    }
}
