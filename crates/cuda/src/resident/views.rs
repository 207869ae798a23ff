//! The views of an objective on the card: embeddings, with offsets and signs, and the way
//! back from their derivative to that in the parameters.

use cudarc::driver::DeviceRepr;
use cudarc::driver::sys::CUdeviceptr;
use linkproof_method::data::features::Matrix;
use linkproof_method::engine::encoder::Dropout;
use linkproof_method::engine::objective::{Problem, ViewEncoder};
use linkproof_method::error::Result;

use crate::card::{Place, over};
use crate::compile::Variant;
use crate::layout::Layout;
use crate::memory::Buffer;
use crate::network::{self, Draws, Net};
use crate::pass::Number;
use crate::vectors::{Encoder, Numbers, launch};

/// Rows with offsets and signs, for kernels.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Faces {
    rows: u32,
    dim: u32,
    width: u32,
    positive: u32,
    offsets: i32,
    unit: f64,
}

// SAFETY: plain numbers in the layout of C, as the kernel declares them.
unsafe impl DeviceRepr for Faces {}

/// A view: its data vectors, and what turns them into embeddings.
#[derive(Debug)]
pub struct View<T: Number> {
    x: Encoder<T>,
    /// Where one product does not do.
    net: Option<Net<T>>,
    /// What data vectors tell of offsets.
    told: Buffer<T>,
}

/// Where passes over views run, and on what.
#[derive(Clone, Copy)]
pub struct Pass<'a> {
    pub on: &'a Place,
    /// The kernels of products.
    pub products: Variant,
    pub layout: &'a Layout,
    /// All parameters.
    pub theta: CUdeviceptr,
    pub dropout: Option<Dropout>,
}

impl<T: Number> View<T> {
    /// Copies the data vectors of a view up.
    pub fn new(
        on: &Place,
        problem: &Problem<'_>,
        view: &ViewEncoder,
        matrix: Option<&Matrix>,
    ) -> Result<View<T>> {
        let network = &view.network;
        let is_plain =
            network.is_table() || (Encoder::<T>::serves(network) && problem.dropout.is_none());
        Ok(View {
            x: Encoder::new(on, network, matrix)?,
            net: (!is_plain).then(|| Net::new(network)),
            told: Buffer::default(),
        })
    }

    /// Embeds the nodes of a view, its number given: `rows`, and as others see them.
    pub fn forward(
        &mut self,
        pass: Pass<'_>,
        problem: &Problem<'_>,
        place: usize,
        (rows, mirror): (CUdeviceptr, Option<CUdeviceptr>),
    ) -> Result<()> {
        let (on, view) = (pass.on, &problem.encoders()[place]);
        let drop = Draws::new(pass.dropout, 0);
        if drop.drops() {
            self.x.drop(on, view.rows.len(), drop)?;
        }
        let numbers = numbers::<T>(pass, problem, place, rows);
        match &mut self.net {
            None => self.x.forward(on, pass.products, numbers)?,
            Some(net) => net.forward(on, pass.products, &self.x, numbers, pass.dropout)?,
        }
        let Some(mirror) = mirror else {
            return Ok(());
        };
        let (mut own, mut told, mut unit) = (0, 0, 1.0);
        if let Some(offsets) = &view.offsets {
            own = pass.at::<T>(offsets.own.start);
            unit = offsets.unit;
            if let Some((_, map)) = &offsets.map {
                self.told.room(on, numbers.count)?;
                told = self.told.address(on);
                let of_map = Numbers {
                    weights: pass.at::<T>(map.start),
                    rows: told,
                    dim: 1,
                    width: 1,
                    ..numbers
                };
                self.x.forward(on, pass.products, of_map)?;
            }
        }
        let faces = Faces {
            rows: numbers.count as u32,
            dim: problem.dim as u32,
            width: numbers.width as u32,
            positive: (problem.dim - problem.negative) as u32,
            offsets: i32::from(view.offsets.is_some()),
            unit,
        };
        let start = pass.layout.places[place].start * pass.layout.width;
        let (y, z) = (numbers.rows, mirror + (start * size_of::<T>()) as u64);
        launch!(
            on, network::kernels::<T>(), "face", over(numbers.count * numbers.width);
            &y, &z, &faces, &own, &told
        )
    }

    /// Writes `inverse` times the derivative in the view's parameters, and the ridge's, to
    /// its place in `out`, from the derivative in the rows of the last forward pass.
    pub fn backward(
        &mut self,
        pass: Pass<'_>,
        problem: &Problem<'_>,
        place: usize,
        (rows, slopes): (CUdeviceptr, CUdeviceptr),
        (inverse, ridge): (f64, f64),
        (parts, out): (&mut Buffer<T>, CUdeviceptr),
    ) -> Result<()> {
        let (on, view) = (pass.on, &problem.encoders()[place]);
        let of_rows = numbers::<T>(pass, problem, place, rows);
        let numbers = numbers::<T>(pass, problem, place, slopes);
        let to = |start: usize| out + (start * size_of::<T>()) as u64;
        let own = to(view.params.start);
        match &mut self.net {
            None => {
                let factors = (inverse, ridge);
                let to = (&mut *parts, own);
                self.x.backward(on, pass.products, numbers, factors, to)?;
            }
            Some(net) => {
                let slopes = (numbers.rows, inverse, ridge);
                let to = (&mut *parts, own);
                let (x, dropout) = (&self.x, pass.dropout);
                net.backward(on, pass.products, x, (of_rows, dropout), slopes, to)?;
            }
        }
        let Some(offsets) = &view.offsets else {
            return Ok(());
        };
        let unit = offsets.unit;
        let factors = (inverse * unit, ridge * unit * unit);
        // The column after those of the embedding.
        let of_offsets = Numbers {
            rows: numbers.rows + (problem.dim * size_of::<T>()) as u64,
            weights: pass.at::<T>(offsets.own.start),
            dim: 1,
            ..numbers
        };
        let own = (&mut *parts, to(offsets.own.start));
        Encoder::Table.backward(on, pass.products, of_offsets, factors, own)?;
        if let Some((_, map)) = &offsets.map {
            let weights = pass.at::<T>(map.start);
            let of_map = Numbers {
                weights,
                ..of_offsets
            };
            let to = (parts, to(map.start));
            self.x.backward(on, pass.products, of_map, factors, to)?;
        }
        Ok(())
    }
}

impl Pass<'_> {
    fn at<T>(&self, start: usize) -> CUdeviceptr {
        self.theta + (start * size_of::<T>()) as u64
    }
}

/// Where the numbers of a view are, with its rows in those of all.
fn numbers<T>(pass: Pass<'_>, problem: &Problem<'_>, view: usize, rows: CUdeviceptr) -> Numbers {
    let layout = pass.layout;
    let place = &layout.places[view];
    let start = place.start * layout.width;
    Numbers {
        weights: pass.at::<T>(problem.encoders()[view].params.start),
        rows: rows + (start * size_of::<T>()) as u64,
        count: place.rows.len(),
        dim: problem.dim,
        width: layout.width,
        drops: Draws::new(pass.dropout, 0).drops(),
    }
}
