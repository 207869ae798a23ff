//! Encoders on the card: tables, and linear maps of dense and sparse data vectors.

use cudarc::driver::LaunchConfig;
use cudarc::driver::sys::CUdeviceptr;
use linkproof_method::data::features::Matrix;
use linkproof_method::engine::encoder::Network;
use linkproof_method::error::Result;

use crate::card::{Place, blocks, over};
use crate::compile::Variant;
use crate::memory::Buffer;
use crate::network::{self, Draws};
use crate::pass::Number;

/// Starts a kernel with arguments that are its own.
macro_rules! launch {
    ($on:expr, $variant:expr, $name:literal, $config:expr; $($arg:expr),* $(,)?) => {{
        use cudarc::driver::PushKernelArg;
        let function = $on.device.function($variant, $name)?;
        let mut launch = $on.stream.launch_builder(&function);
        $(launch.arg($arg);)*
        // SAFETY: the arguments are those of the kernel, and their memory is there.
        $on.device.check($name, unsafe { launch.launch($config) }).map(|_| ())
    }};
}
pub(crate) use launch;

/// The encoder of a view.
#[derive(Debug)]
pub enum Encoder<T: Number> {
    /// A vector for each node.
    Table,
    /// A linear map of dense data vectors.
    Dense {
        inputs: usize,
        values: Buffer<T>,
        /// The same with entries left out.
        dropped: Buffer<T>,
    },
    /// A linear map of sparse ones.
    Sparse(Box<Sparse<T>>),
}

/// Sparse data vectors by row and by column.
#[derive(Debug)]
pub struct Sparse<T: Number> {
    inputs: usize,
    entries: usize,
    by_row: Compressed<T>,
    by_column: Compressed<T>,
}

#[derive(Debug)]
struct Compressed<T: Number> {
    offsets: Buffer<u64>,
    places: Buffer<u32>,
    values: Buffer<T>,
    /// The same with entries left out.
    dropped: Buffer<T>,
}

impl<T: Number> Compressed<T> {
    fn new(on: &Place, offsets: &[u64], places: &[u32], values: &[T]) -> Result<Compressed<T>> {
        let mut compressed = Compressed {
            offsets: Buffer::default(),
            places: Buffer::default(),
            values: Buffer::default(),
            dropped: Buffer::default(),
        };
        compressed.offsets.fill(on, offsets)?;
        compressed.places.fill(on, places)?;
        compressed.values.fill(on, values)?;
        Ok(compressed)
    }

    fn addresses(&self, on: &Place, drops: bool) -> [CUdeviceptr; 3] {
        let values = match drops {
            true => &self.dropped,
            false => &self.values,
        };
        [
            self.offsets.address(on),
            self.places.address(on),
            values.address(on),
        ]
    }

    /// Leaves entries out, of so many values in so many lines.
    fn drop(
        &mut self,
        on: &Place,
        (count, lines): (usize, usize),
        of: (bool, Draws),
    ) -> Result<()> {
        self.dropped.room(on, count)?;
        let [offsets, places, values] = self.addresses(on, false);
        let to = self.dropped.address(on);
        let (lines_there, by_column) = (lines as u32, i32::from(of.0));
        launch!(
            on, network::kernels::<T>(), "drop_lines", over(lines);
            &offsets, &places, &values, &lines_there, &by_column, &of.1, &to
        )
    }
}

/// Where the numbers of a view are.
#[derive(Debug, Clone, Copy)]
pub struct Numbers {
    /// The view's parameters.
    pub weights: CUdeviceptr,
    /// Its rows, or the slopes in them.
    pub rows: CUdeviceptr,
    /// How many rows there are.
    pub count: usize,
    /// The dimension, and what it is padded to.
    pub dim: usize,
    pub width: usize,
    /// Whether data vectors are read with entries left out.
    pub drops: bool,
}

impl<T: Number> Encoder<T> {
    /// Whether an encoder can be computed here.
    pub fn serves(network: &Network) -> bool {
        let plain = network
            .layers()
            .iter()
            .all(|layer| layer.bias.is_none() && layer.norm.is_none() && layer.function.is_none());
        network.layers().len() == 1 && plain
    }

    /// Copies the data vectors of a view up.
    pub fn new(on: &Place, network: &Network, matrix: Option<&Matrix>) -> Result<Encoder<T>> {
        Ok(match matrix.filter(|_| !network.is_table()) {
            None => Encoder::Table,
            Some(Matrix::Dense(dense)) => {
                let mut values = Buffer::default();
                values.fill(on, &*dense.values().cast::<T>())?;
                Encoder::Dense {
                    inputs: dense.n_columns(),
                    values,
                    dropped: Buffer::default(),
                }
            }
            Some(Matrix::Sparse(sparse)) => {
                let offsets: Vec<u64> = sparse.offsets().iter().map(|&at| at as u64).collect();
                let values = sparse.values().cast::<T>();
                let by_row = Compressed::new(on, &offsets, sparse.columns(), &values)?;
                let inputs = sparse.n_columns();
                let (starts, rows, sorted) = by_column(inputs, &offsets, sparse.columns(), &values);
                Encoder::Sparse(Box::new(Sparse {
                    inputs,
                    entries: sparse.columns().len(),
                    by_row,
                    by_column: Compressed::new(on, &starts, &rows, &sorted)?,
                }))
            }
        })
    }

    /// Leaves entries out of the data vectors of so many rows.
    pub fn drop(&mut self, on: &Place, count: usize, drop: Draws) -> Result<()> {
        match self {
            Encoder::Table => Ok(()),
            Encoder::Dense {
                inputs,
                values,
                dropped,
            } => {
                dropped.room(on, count * *inputs)?;
                let (x, to) = (values.address(on), dropped.address(on));
                let (rows, columns) = (count as u32, *inputs as u32);
                launch!(
                    on, network::kernels::<T>(), "drop_dense", over(count * *inputs);
                    &x, &rows, &columns, &drop, &to
                )
            }
            Encoder::Sparse(sparse) => {
                let (entries, inputs) = (sparse.entries, sparse.inputs);
                sparse.by_row.drop(on, (entries, count), (false, drop))?;
                sparse.by_column.drop(on, (entries, inputs), (true, drop))
            }
        }
    }

    /// Computes the embeddings of a view.
    pub fn forward(&self, on: &Place, variant: Variant, numbers: Numbers) -> Result<()> {
        let (weights, y) = (numbers.weights, numbers.rows);
        let (count, dim, width) = (
            numbers.count as u32,
            numbers.dim as u32,
            numbers.width as u32,
        );
        match self {
            Encoder::Table => {
                let config = over(numbers.count * numbers.width);
                launch!(on, variant, "spread", config; &weights, &count, &dim, &width, &y)
            }
            Encoder::Dense {
                inputs,
                values,
                dropped,
            } => {
                let values = if numbers.drops { dropped } else { values };
                dense_rows(on, variant, (values.address(on), *inputs), numbers)
            }
            Encoder::Sparse(sparse) => {
                let [offsets, columns, values] = sparse.by_row.addresses(on, numbers.drops);
                let config = blocks(numbers.count.div_ceil(8), 256);
                launch!(
                    on, variant, "sparse_rows", config;
                    &offsets, &columns, &values, &weights, &count, &dim, &width, &y
                )
            }
        }
    }

    /// Writes `inverse` times the derivative in the view's parameters, from that in its
    /// rows, plus `ridge` times the parameters.
    pub fn backward(
        &self,
        on: &Place,
        variant: Variant,
        numbers: Numbers,
        (inverse, ridge): (f64, f64),
        (parts, out): (&mut Buffer<T>, CUdeviceptr),
    ) -> Result<()> {
        let n_parts = self.columns(on, variant, numbers, parts)?;
        let dim = numbers.dim as u32;
        let (from, rows, width) = match self {
            Encoder::Table => (numbers.rows, numbers.count, numbers.width),
            Encoder::Dense { inputs, .. } => (parts.address(on), *inputs, numbers.dim),
            Encoder::Sparse(sparse) => (parts.address(on), sparse.inputs, numbers.dim),
        };
        let (size, weights) = (rows * numbers.dim, numbers.weights);
        let (distance, rows, width) = (size as u64, rows as u32, width as u32);
        launch!(
            on, variant, "finish", over(size);
            &from, &n_parts, &distance, &rows, &dim, &width, &inverse, &ridge, &weights, &out
        )
    }

    /// Products of data vectors, transposed, with the derivative in the rows of a view,
    /// in parts: how many. A table has nothing to do.
    pub fn columns(
        &self,
        on: &Place,
        variant: Variant,
        numbers: Numbers,
        parts: &mut Buffer<T>,
    ) -> Result<u32> {
        match self {
            Encoder::Table => Ok(1),
            Encoder::Dense {
                inputs,
                values,
                dropped,
            } => {
                let values = if numbers.drops { dropped } else { values };
                let x = (values.address(on), *inputs);
                dense_columns(on, variant, x, numbers, parts)
            }
            Encoder::Sparse(sparse) => {
                parts.room(on, sparse.inputs * numbers.dim)?;
                let (slopes, to) = (numbers.rows, parts.address(on));
                let (dim, width) = (numbers.dim as u32, numbers.width as u32);
                let [offsets, rows, values] = sparse.by_column.addresses(on, numbers.drops);
                launch!(
                    on, variant, "sparse_columns", blocks(sparse.inputs, 256);
                    &offsets, &rows, &values, &slopes, &dim, &width, &to
                )?;
                Ok(1)
            }
        }
    }
}

/// Rows of so many numbers, times weights.
pub fn dense_rows(
    on: &Place,
    variant: Variant,
    (x, inputs): (CUdeviceptr, usize),
    numbers: Numbers,
) -> Result<()> {
    let (weights, y) = (numbers.weights, numbers.rows);
    let (count, inputs) = (numbers.count as u32, inputs as u32);
    let (dim, width) = (numbers.dim as u32, numbers.width as u32);
    let config = tiles(numbers.count, numbers.width, 1);
    launch!(
        on, variant, "dense_rows", config;
        &x, &weights, &count, &inputs, &dim, &width, &y
    )
}

/// Rows of so many numbers, transposed, times the derivative in other rows, in parts: how
/// many.
pub fn dense_columns<T: Number>(
    on: &Place,
    variant: Variant,
    (x, inputs): (CUdeviceptr, usize),
    numbers: Numbers,
    parts: &mut Buffer<T>,
) -> Result<u32> {
    let n_tiles = inputs.div_ceil(64) * numbers.dim.div_ceil(64);
    let n_parts = (4 * on.device.processors)
        .div_ceil(n_tiles)
        .clamp(1, numbers.count.div_ceil(256).max(1));
    parts.room(on, n_parts * inputs * numbers.dim)?;
    let (slopes, to) = (numbers.rows, parts.address(on));
    let (count, columns) = (numbers.count as u32, inputs as u32);
    let (dim, width) = (numbers.dim as u32, numbers.width as u32);
    let config = tiles(inputs, numbers.dim, n_parts);
    launch!(
        on, variant, "dense_columns", config;
        &x, &slopes, &count, &columns, &dim, &width, &to
    )?;
    Ok(n_parts as u32)
}

/// Blocks of 64 x 64 numbers, so many deep.
fn tiles(rows: usize, columns: usize, depth: usize) -> LaunchConfig {
    LaunchConfig {
        grid_dim: (
            rows.div_ceil(64) as u32,
            columns.div_ceil(64) as u32,
            depth as u32,
        ),
        ..blocks(1, 256)
    }
}

/// The entries of compressed rows, sorted by column.
fn by_column<T: Number>(
    n_columns: usize,
    offsets: &[u64],
    columns: &[u32],
    values: &[T],
) -> (Vec<u64>, Vec<u32>, Vec<T>) {
    let mut starts = vec![0u64; n_columns + 1];
    for &column in columns {
        starts[column as usize + 1] += 1;
    }
    for column in 0..n_columns {
        starts[column + 1] += starts[column];
    }
    let mut next = starts.clone();
    let (mut rows, mut sorted) = (vec![0u32; columns.len()], vec![T::ZERO; columns.len()]);
    for (row, ends) in offsets.windows(2).enumerate() {
        for at in ends[0] as usize..ends[1] as usize {
            let slot = &mut next[columns[at] as usize];
            rows[*slot as usize] = row as u32;
            sorted[*slot as usize] = values[at];
            *slot += 1;
        }
    }
    (starts, rows, sorted)
}
