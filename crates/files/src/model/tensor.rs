//! Numbers as a safetensors file holds them.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;

use serde_json::{Value, json};

use crate::write_file;

use linkproof_method::data::features::Values;
use linkproof_method::engine::encoder::Layer;
use linkproof_method::error::Result;

/// Numbers of a shape.
pub(crate) struct Tensor<'a> {
    pub(super) shape: Vec<usize>,
    numbers: Numbers<'a>,
}

enum Numbers<'a> {
    F32(&'a [f32]),
    F64(&'a [f64]),
    Bytes(&'static str, Vec<u8>),
}

impl<'a> Tensor<'a> {
    /// A layer's weights, row after row.
    pub(super) fn weights(layer: &Layer, values: &'a Values) -> Tensor<'a> {
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

    pub(super) fn f32s(shape: Vec<usize>, values: &'a [f32]) -> Tensor<'a> {
        let numbers = Numbers::F32(values);
        Tensor { shape, numbers }
    }

    pub(crate) fn f64s(values: &'a [f64]) -> Tensor<'a> {
        let (shape, numbers) = (vec![values.len()], Numbers::F64(values));
        Tensor { shape, numbers }
    }

    pub(super) fn values(shape: Vec<usize>, values: &'a Values, range: Range<usize>) -> Tensor<'a> {
        let numbers = match values {
            Values::F32(values) => Numbers::F32(&values[range]),
            Values::F64(values) => Numbers::F64(&values[range]),
        };
        Tensor { shape, numbers }
    }

    pub(super) fn bytes<const N: usize>(
        dtype: &'static str,
        shape: Vec<usize>,
        numbers: impl IntoIterator<Item = [u8; N]>,
    ) -> Tensor<'a> {
        Tensor {
            shape,
            numbers: Numbers::Bytes(dtype, numbers.into_iter().flatten().collect()),
        }
    }

    pub(super) fn dtype(&self) -> &'static str {
        match self.numbers {
            Numbers::F32(_) => "F32",
            Numbers::F64(_) => "F64",
            Numbers::Bytes(dtype, _) => dtype,
        }
    }

    pub(super) fn size(&self) -> usize {
        match &self.numbers {
            Numbers::F32(values) => 4 * values.len(),
            Numbers::F64(values) => 8 * values.len(),
            Numbers::Bytes(_, bytes) => bytes.len(),
        }
    }

    pub(super) fn write(&self, file: &mut impl Write) -> io::Result<()> {
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

/// Numbers with their name.
pub(super) type Named<'a> = (String, Tensor<'a>);

/// Writes a safetensors file.
pub(crate) fn write_safetensors(
    path: &Path,
    metadata: &BTreeMap<&'static str, String>,
    tensors: &[Named<'_>],
) -> Result<()> {
    let header = header(metadata, tensors);
    write_file(path, |file| write_tensors(file, &header, tensors))
}

/// The header: the metadata, and where each tensor stands.
pub(super) fn header(metadata: &BTreeMap<&'static str, String>, tensors: &[Named<'_>]) -> String {
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
    let mut header = json!(header).to_string();
    header.push_str(&" ".repeat(header.len().next_multiple_of(8) - header.len()));
    header
}

/// A safetensors file: the length of a JSON header, the header, the numbers.
pub(super) fn write_tensors(
    file: &mut impl Write,
    header: &str,
    tensors: &[Named<'_>],
) -> io::Result<()> {
    file.write_all(&(header.len() as u64).to_le_bytes())?;
    file.write_all(header.as_bytes())?;
    tensors
        .iter()
        .try_for_each(|(_, tensor)| tensor.write(file))
}
