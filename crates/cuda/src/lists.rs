//! Pairs that are listed one by one, on the card: links, and pairs set aside.

use cudarc::driver::DeviceRepr;
use cudarc::driver::sys::CUdeviceptr;
use linkproof_method::data::graph::Graph;
use linkproof_method::error::Result;
use linkproof_method::score::Score;

use crate::card::Place;
use crate::layout::Layout;
use crate::memory::Buffer;

/// A list of pairs, by rows on the card.
#[derive(Debug)]
pub struct List {
    pub offsets: Buffer<u64>,
    pub targets: Buffer<u32>,
    pub weights: Buffer<f64>,
    /// Where the score that solvers follow continues what a link pays.
    pub caps: Buffer<f64>,
    host_weights: Vec<f64>,
    /// For each row the pairs with later rows, and all of them.
    pub later: Vec<u32>,
    pub ends: Vec<f64>,
}

impl List {
    /// The links of a graph between internal rows.
    pub fn new(on: &Place, graph: &Graph, layout: &Layout, score: &Score) -> Result<List> {
        let links = graph.adjacency();
        let (mut offsets, mut later) = (vec![0u64], vec![0u32; layout.rows]);
        let mut ends = vec![0.0; layout.rows];
        let (mut targets, mut weights) = (Vec::new(), Vec::new());
        let place_of = |row: usize| {
            let view = layout.places.partition_point(|place| place.rows.end <= row);
            let place = &layout.places[view];
            place.start + row - place.rows.start
        };
        for place in &layout.places {
            offsets.resize(place.start + 1, targets.len() as u64);
            for (at, row) in (place.start..).zip(place.rows.clone()) {
                let (others, of_others) = links.row(row);
                ends[at] = others.len() as f64;
                later[at] = others.iter().filter(|&&other| other as usize > row).count() as u32;
                targets.extend(others.iter().map(|&other| place_of(other as usize) as u32));
                weights.extend_from_slice(of_others);
                offsets.push(targets.len() as u64);
            }
        }
        offsets.resize(layout.rows + 1, targets.len() as u64);
        let mut list = List {
            offsets: Buffer::default(),
            targets: Buffer::default(),
            weights: Buffer::default(),
            caps: Buffer::default(),
            host_weights: weights,
            later,
            ends,
        };
        list.offsets.fill(on, offsets.as_slice())?;
        list.targets.fill(on, targets.as_slice())?;
        list.weights.fill(on, list.host_weights.as_slice())?;
        list.caps = list.caps_of(on, score)?;
        Ok(list)
    }

    /// Where a score continues what each link pays.
    pub fn caps_of(&self, on: &Place, score: &Score) -> Result<Buffer<f64>> {
        let caps: Vec<f64> = self
            .host_weights
            .iter()
            .map(|&w| score.link_cap(w))
            .collect();
        let mut buffer = Buffer::default();
        buffer.fill(on, caps.as_slice())?;
        Ok(buffer)
    }
}

/// What a pass over a list tells its kernel: the structure of `kernels/resident.cu`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Listed {
    pub offsets: CUdeviceptr,
    pub targets: CUdeviceptr,
    pub weights: CUdeviceptr,
    pub caps: CUdeviceptr,
    pub views: CUdeviceptr,
    pub gamma: CUdeviceptr,
    pub takes: CUdeviceptr,
    pub gradient: CUdeviceptr,
    pub sums: CUdeviceptr,
    pub factor: f64,
    pub n_views: u32,
    pub corrects: i32,
}

// SAFETY: plain numbers in the layout of C, as the kernel declares them.
unsafe impl DeviceRepr for Listed {}
