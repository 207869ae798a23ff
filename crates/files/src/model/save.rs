//! Saving a model folder.
//!
//! The safetensors file is written here rather than by its crate, whose header
//! has its metadata in random order and which needs the whole file in memory:
//! ours has the same bytes every time and streams the weights.

use std::collections::BTreeMap;
use std::io::Write;
use std::ops::Range;
use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::files::{
    Described, DescribedBeliefs, DescribedView, EMBEDDINGS, EMBEDDINGS_PLAIN, FIT, LINKS, MODEL,
    NODES, OFFSETS_OF_NODES, VERSION, averages_of, numbers_of_links, offsets_of, replicate_of,
    vectors_of,
};
use super::tables::{write_judged, write_labels, write_offsets};
use super::tensor::{Named, Tensor, header, write_tensors};
use crate::check::check_files::KEPT;
use crate::parts::{PARTS, Parts};
use crate::{FolderKind, OutputFolder, write_file, write_links, write_nodes, write_npy};
use linkproof_method::Fitted;
use linkproof_method::data::attributes::Attributes;
use linkproof_method::data::features::Matrix;
use linkproof_method::data::graph::Ends;
use linkproof_method::data::ids::Ids;
use linkproof_method::error::{Error, Result};
use linkproof_method::model::Replicate;
use linkproof_text::{Style, note};

/// Writes a model as a new folder, whole or not at all.
pub fn save(model: &Fitted, path: impl AsRef<Path>) -> Result<()> {
    let folder = OutputFolder::create(path.as_ref(), FolderKind::model(), false)?;
    write_model(model, &folder, &Map::new())?;
    folder.commit()
}

/// Writes the files of a model folder; `record` goes into `fit.json` as it is.
pub fn write_model(
    model: &Fitted,
    folder: &OutputFolder,
    record: &Map<String, Value>,
) -> Result<()> {
    let tensors = tensors(model);
    let header = header(&described(model)?, &tensors);
    write_file(folder.file(MODEL), |file| {
        write_tensors(file, &header, &tensors)
    })?;
    let views = model.node_views().iter();
    let names: Vec<String> = views
        .map(|&view| model.views()[view as usize].name.clone())
        .collect();
    let told = model.views().iter().any(|view| !view.name.is_empty()) && !model.is_directed();
    let ids = model.node_ids();
    let attributes = model.attributes();
    write_nodes(folder.file(NODES), ids, told.then_some(&names), attributes)?;
    let write = |name: &str, values: &[f32]| {
        let (values, width) = model.by_node(values, model.dim());
        write_npy(folder.file(name), ids.len(), width, &values)
    };
    write(EMBEDDINGS, model.recommended())?;
    if model.averaged().is_some() {
        write(EMBEDDINGS_PLAIN, model.embeddings())?;
    }
    write_links(folder.file(LINKS), model.links())?;
    write_offsets(model, folder)?;
    write_judged(model, folder)?;
    write_labels(model, folder)?;
    let mut fit = fit_json(model, record)?;
    let parts = [MODEL, EMBEDDINGS, EMBEDDINGS_PLAIN, LINKS];
    fit[PARTS] = to_value(&Parts::of(folder, &parts, model.ids())?)?;
    write_file(folder.file(FIT), |file| {
        serde_json::to_writer_pretty(&mut *file, &fit)?;
        file.write_all(b"\n")
    })?;
    folder.keep(&KEPT)
}

/// A model and its record in one piece, for a pickle: all that a folder holds.
pub fn to_bytes(model: &Fitted, record: &Map<String, Value>) -> Result<Vec<u8>> {
    let mut metadata = described(model)?;
    let classes = model.classes().map(|it| (&it.names, &it.codes, &it.titles));
    let columns = model
        .attributes()
        .map_or(&[][..], Attributes::columns)
        .iter();
    let columns: Vec<(&str, Vec<&str>)> = columns
        .map(|(header, texts)| (header.as_str(), texts.iter().collect()))
        .collect();
    metadata.insert("attributes", json!(columns).to_string());
    metadata.insert("fit", fit_json(model, record)?.to_string());
    metadata.insert("nodes", nodes_json(model.ids()).to_string());
    metadata.insert("classes", json!(classes).to_string());
    let mut tensors = tensors(model);
    let shape = || vec![model.n_nodes(), model.dim()];
    let mut put = |name: &str, tensor| tensors.push((name.to_owned(), tensor));
    put("embeddings", Tensor::f32s(shape(), model.embeddings()));
    if let Some(averaged) = model.averaged() {
        put("averages", Tensor::f32s(shape(), &averaged.embeddings));
    }
    let views = model.node_views();
    let views = Tensor::bytes(
        "U32",
        vec![views.len()],
        views.iter().map(|x| x.to_le_bytes()),
    );
    put("node_views", views);
    let links = model.links();
    let ends = links
        .links()
        .flat_map(|link| [link.src, link.dst].map(u32::to_le_bytes));
    put(
        "links.ends",
        Tensor::bytes("U32", vec![links.n_links(), 2], ends),
    );
    put("links.weights", Tensor::f64s(links.weights()));
    let header = header(&metadata, &tensors);
    let mut bytes = Vec::new();
    write_tensors(&mut bytes, &header, &tensors)
        .map_err(|error| Error::data("model", error.to_string(), "memory to hold it"))?;
    Ok(bytes)
}

/// The content of `fit.json`: report, parameters and `record` side by side.
pub fn fit_json(model: &Fitted, record: &Map<String, Value>) -> Result<Value> {
    let mut fit = Map::new();
    fit.insert("format_version".into(), VERSION.into());
    fit.insert("params".into(), to_value(model.params())?);
    fit.insert("seed".into(), model.params().seed.into());
    fit.insert("gamma".into(), gamma_json(model));
    if let Some(sides) = model.ids().sides() {
        let ends = if sides.same {
            Ends::Directed
        } else {
            Ends::Bipartite
        };
        fit.insert("ends".into(), ends.name().into());
    }
    fit.insert("effective_rank".into(), model.effective_rank().into());
    if let Some(sizes) = model.sizes() {
        fit.insert("sizes".into(), to_value(sizes)?);
    }
    if let Value::Object(report) = to_value(model.report())? {
        fit.extend(report);
    }
    let notes = model.report().notes.iter();
    let notes = notes.map(|it| note(it, Style::default()));
    fit.insert("notes".into(), notes.collect());
    fit.extend(record.clone());
    Ok(fit.into())
}

/// `gamma`: a number for one view, else a number for each pair of views.
pub fn gamma_json(model: &Fitted) -> Value {
    let views = model.views();
    match model.view_pairs() {
        [(d, e)] if views.len() == 1 => json!(model.gamma().get(*d, *e)),
        pairs => pairs
            .iter()
            .map(|&(d, e)| {
                let name = format!("{}:{}", views[d].name, views[e].name);
                (name, json!(model.gamma().get(d, e)))
            })
            .collect::<Map<String, Value>>()
            .into(),
    }
}

/// The metadata of the file.
fn described(model: &Fitted) -> Result<BTreeMap<&'static str, String>> {
    let views = model.views().iter();
    let described = Described {
        params: model.params().clone(),
        views: views
            .map(|view| DescribedView {
                name: view.name.clone(),
                spec: view.network.spec().clone(),
            })
            .collect(),
        view_pairs: model.view_pairs().to_vec(),
        believed: model.believed().map(|believed| DescribedBeliefs {
            abstained: believed.abstained,
            rounds: believed.rounds,
            numbers: believed.numbers.keys().cloned().collect(),
            facts: believed.facts.clone(),
        }),
        sizes: model.sizes().copied(),
        replicates: model.replicates().map(|it| it.parts.len()),
        name_column: model
            .attributes()
            .and_then(Attributes::name_header)
            .map(str::to_owned),
    };
    let mut metadata = BTreeMap::from([
        ("format", "linkproof".to_owned()),
        ("version", VERSION.to_owned()),
        ("model", to_value(&described)?.to_string()),
    ]);
    if model.ids().sides().is_some() {
        metadata.insert("nodes", nodes_json(model.ids()).to_string());
    }
    Ok(metadata)
}

/// The ids of nodes: how many where they are row numbers, a list of names, or both
/// sides.
fn nodes_json(ids: &Ids) -> Value {
    match ids {
        Ids::Rows(n) => json!(n),
        Ids::Names(names) => (0..names.len()).map(|row| names.name(row)).collect(),
        Ids::Sides(sides) => json!({
            "source": nodes_json(&sides.source),
            "target": match sides.same {
                true => Value::Null,
                false => nodes_json(&sides.target),
            },
        }),
    }
}

fn tensors(model: &Fitted) -> Vec<Named<'_>> {
    let n_views = model.views().len();
    let gamma = (0..n_views)
        .flat_map(|d| (0..n_views).map(move |e| (d, e)))
        .map(|(d, e)| model.gamma().get(d, e).to_le_bytes());
    let k = [model.report().k.to_le_bytes()];
    let mut tensors = vec![
        (
            "gamma".to_owned(),
            Tensor::bytes("F64", vec![n_views, n_views], gamma),
        ),
        ("k".to_owned(), Tensor::bytes("F64", vec![1], k)),
    ];
    for (place, view) in model.views().iter().enumerate() {
        let mut statistics = view.statistics.mean.iter().zip(&view.statistics.variance);
        for (depth, layer) in view.network.layers().iter().enumerate() {
            let width = vec![layer.outputs];
            let mut put = |name: &str, tensor| {
                tensors.push((format!("views.{place}.layers.{depth}.{name}"), tensor));
            };
            let weights =
                |shape, range: &Range<usize>| Tensor::values(shape, &view.weights, range.clone());
            put("weight", Tensor::weights(layer, &view.weights));
            if let Some(bias) = &layer.bias {
                put("bias", weights(width.clone(), bias));
            }
            if let (Some(norm), Some((mean, variance))) = (
                &layer.norm,
                layer.norm.as_ref().and_then(|_| statistics.next()),
            ) {
                put("norm.scale", weights(width.clone(), &norm.scale));
                put("norm.shift", weights(width, &norm.shift));
                put("norm.mean", Tensor::f64s(mean));
                put("norm.variance", Tensor::f64s(variance));
            }
        }
    }
    if let Some(offsets) = model.offsets() {
        let shape = vec![offsets.len()];
        tensors.push((OFFSETS_OF_NODES.to_owned(), Tensor::f32s(shape, offsets)));
    }
    for (place, view) in model.views().iter().enumerate() {
        if let Some(map) = &view.offsets {
            let map = Tensor::values(vec![map.len()], map, 0..map.len());
            tensors.push((offsets_of(place), map));
        }
    }
    let maps = model.averaged().map_or(&[][..], |averaged| &averaged.maps);
    for (place, map) in maps.iter().enumerate() {
        let Some(map) = map else { continue };
        let shape = vec![map.len() / model.dim(), model.dim()];
        tensors.push((averages_of(place), Tensor::f32s(shape, map)));
    }
    if let Some(neighborhood) = &model.parts().neighborhood {
        let graph = &neighborhood.graph;
        let ends = graph
            .links()
            .flat_map(|link| [link.src, link.dst].map(u32::to_le_bytes));
        let ends = Tensor::bytes("U32", vec![graph.n_links(), 2], ends);
        tensors.push(("neighborhood.links".into(), ends));
        put_matrix(&mut tensors, "neighborhood", &neighborhood.matrix);
    }
    if let Some(believed) = model.believed() {
        for (name, numbers) in &believed.numbers {
            tensors.push((numbers_of_links(name), Tensor::f64s(numbers)));
        }
        for (place, matrix) in believed.vectors.iter().enumerate() {
            if let Some(matrix) = matrix {
                put_matrix(&mut tensors, &vectors_of(place), matrix);
            }
        }
    }
    for (number, it) in replicates(model).enumerate() {
        let before = replicate_of(number);
        let mut put = |name: &str, tensor| tensors.push((format!("{before}.{name}"), tensor));
        let shape = vec![model.n_nodes(), model.dim()];
        put("embeddings", Tensor::f32s(shape, &it.embeddings));
        let gamma = (0..n_views).flat_map(|d| (0..n_views).map(move |e| (d, e)));
        let gamma = gamma.map(|(d, e)| it.gamma.get(d, e).to_le_bytes());
        put("gamma", Tensor::bytes("F64", vec![n_views, n_views], gamma));
        if let Some(offsets) = &it.offsets {
            put("offsets", Tensor::f32s(vec![model.n_nodes()], offsets));
        }
        if let Some(has) = &it.has {
            let has = has.iter().map(|&has| u32::from(has).to_le_bytes());
            put("has", Tensor::bytes("U32", vec![model.n_nodes()], has));
        }
    }
    tensors
}

/// The fit to all nodes, then those to parts of them.
fn replicates(model: &Fitted) -> impl Iterator<Item = &Replicate> {
    let all = model.replicates().into_iter();
    all.flat_map(|it| std::iter::once(&it.whole).chain(&it.parts))
}

/// Data vectors, dense or by their entries.
fn put_matrix<'a>(tensors: &mut Vec<Named<'a>>, before: &str, matrix: &'a Matrix) {
    let mut put = |name: &str, tensor| tensors.push((format!("{before}.{name}"), tensor));
    match matrix {
        Matrix::Dense(dense) => {
            let shape = vec![dense.n_rows(), dense.n_columns()];
            let all = 0..dense.values().len();
            put("values", Tensor::values(shape, dense.values(), all));
        }
        Matrix::Sparse(sparse) => {
            let stored = sparse.columns().len();
            let starts = sparse.offsets();
            let offsets = starts.iter().map(|&x| (x as u64).to_le_bytes());
            let columns = sparse.columns().iter().map(|x| x.to_le_bytes());
            put("offsets", Tensor::bytes("U64", vec![starts.len()], offsets));
            put("columns", Tensor::bytes("U32", vec![stored], columns));
            put(
                "values",
                Tensor::values(vec![stored], sparse.values(), 0..stored),
            );
        }
    }
}

/// A header in JSON.
fn to_value(value: &impl Serialize) -> Result<Value> {
    serde_json::to_value(value)
        .map_err(|error| Error::data("model", error.to_string(), "plain values"))
}
