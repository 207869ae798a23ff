//! Averages of a model's embeddings, where the gate says that they help.

use super::gate::tell;
use super::recipe::{Averaging, Gate};
use crate::data::dataset::Dataset;
use crate::engine::runtime::Runtime;
use crate::error::Result;
use crate::model::Fitted;
use crate::trust::audit::{Judges, can_fit};
use crate::trust::smooth::{self, NewNodes, Smoothed};

/// Averages must tell as much as embeddings do, but for chance. (Those of a robust fit
/// need not: they are put together with what data vectors tell.)
pub const SMOOTHING_THRESHOLD: f64 = 0.985;

/// How a model's embeddings are averaged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Smoothing {
    /// Who judges links.
    pub judges: Judges,
    /// Rounds of averaging, 0 to 100.
    pub times: usize,
    /// Whether to ask the gate.
    pub averaging: Averaging,
}

/// Averages a model's embeddings, or new nodes (see [`smooth::smooth`]), if the gate
/// opens or is not asked: two fits like the model's, from most of the columns of its
/// data vectors, whose clusters tell the others as well after averaging as before.
/// Where that cannot be tried, because the data vectors are not given or have too few
/// columns, it stays shut. Also what it found; none where it was not asked.
pub fn smooth(
    model: &Fitted,
    data: &Dataset,
    smoothing: Smoothing,
    new: Option<NewNodes<'_>>,
    runtime: Runtime<'_>,
) -> Result<(Smoothed, Option<Gate>)> {
    let Smoothing {
        judges,
        times,
        averaging,
    } = smoothing;
    let mut gate = None;
    let opens = |data: &Dataset, links: &_| match averaging {
        Averaging::Always => Ok(true),
        Averaging::Never => Ok(false),
        Averaging::Gate if times == 0 => Ok(true),
        Averaging::Gate => {
            let told = match can_fit(model, data) {
                true => {
                    let params = model.params().clone().check()?;
                    tell(&params, data, (links, times), runtime)?
                }
                false => None,
            };
            let found = told.map_or(Gate::SHUT, |told| Gate::new(told, SMOOTHING_THRESHOLD));
            gate = Some(found);
            Ok(found.opens)
        }
    };
    let found = smooth::smooth(model, data, (judges, times), new, opens, runtime)?;
    Ok((found, gate))
}
