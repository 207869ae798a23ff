//! What a pass over pairs tells its kernels: the structures of `kernels/common.cu`.

use cudarc::driver::DeviceRepr;
use cudarc::driver::sys::CUdeviceptr;
use linkproof_method::engine::Real;

use crate::series::Series;
use linkproof_method::engine::pairs::{Part, Rule, Split};

/// A number that kernels compute with.
pub trait Number: Real + DeviceRepr + cudarc::driver::ValidAsZeroBits {
    /// Its name there.
    const NAME: &'static str;
}

impl Number for f32 {
    const NAME: &'static str = "float";
}

impl Number for f64 {
    const NAME: &'static str = "double";
}

/// A rule of a split.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct RuleNumbers {
    seed: u32,
    from: u32,
    width: u32,
    kind: u32,
}

impl RuleNumbers {
    fn of(rule: Option<Rule>) -> RuleNumbers {
        rule.map_or_else(RuleNumbers::default, |rule| RuleNumbers {
            seed: rule.seed,
            from: rule.from,
            width: rule.width,
            kind: 1 + u32::from(rule.by_node),
        })
    }

    /// The rules of the fold and of the pairs that decide when to stop.
    pub fn of_split(split: Option<Split>) -> [RuleNumbers; 2] {
        split.map_or([None; 2], Split::rules).map(RuleNumbers::of)
    }
}

/// A tile of rows of one view, and the rows of one view that they meet.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Item {
    pub tile: i32,
    pub from: i32,
    pub to: i32,
    pub end: i32,
    pub valid: i32,
    pub slot: i32,
    pub shift: f64,
    pub scale: f64,
}

/// A pass.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Pass {
    pub items: CUdeviceptr,
    pub left: CUdeviceptr,
    pub right: CUdeviceptr,
    pub gradient: CUdeviceptr,
    pub sums: CUdeviceptr,
    pub stretch: CUdeviceptr,
    pub hash_first: CUdeviceptr,
    pub hash_fold: CUdeviceptr,
    pub hash_stop: CUdeviceptr,
    pub named: CUdeviceptr,
    pub keep: CUdeviceptr,
    pub watch: CUdeviceptr,
    pub cells: CUdeviceptr,
    pub fold: RuleNumbers,
    pub stop: RuleNumbers,
    pub part: u32,
    pub rows: u32,
    pub dim: u32,
    pub growth: f64,
    pub cap: f64,
    pub beta: f64,
    pub cells_per_unit: f64,
    pub watches: i32,
    pub rate: f32,
    pub inverse: f32,
    pub limit: f32,
    pub series: Series,
}

// SAFETY: plain numbers in the layout of C, as the kernels declare them.
unsafe impl DeviceRepr for Item {}
// SAFETY: likewise.
unsafe impl DeviceRepr for Pass {}

/// The number of a part in the kernels.
pub fn part_number(part: Part) -> u32 {
    match part {
        Part::Training => 0,
        Part::HeldOut => 1,
        Part::Judged => 2,
    }
}
