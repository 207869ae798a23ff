//! Numbers as a safetensors file holds them.

use std::io::{self, Write};
use std::ops::Range;

use linkproof_method::data::features::Values;
use linkproof_method::engine::encoder::Layer;

/// Numbers of a shape.
pub(super) struct Tensor<'a> {
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

    pub(super) fn f64s(values: &'a [f64]) -> Tensor<'a> {
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
