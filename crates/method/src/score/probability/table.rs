//! The probability score's `l(s; 0)`, tabulated: piecewise polynomials of value
//! and slope themselves, each within 1e-10 relative, so that a look-up costs
//! about what an `exp` costs.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::super::Term;
use super::chebyshev::{Fit, horner};
use super::{LinkCaps, Pieces, sums};

const LOW: f64 = -40.0;
const HIGH: f64 = 14.0;
/// Coefficients of each polynomial.
const TERMS: usize = 10;

/// A table for one beta.
#[derive(Debug, Clone)]
pub struct Table {
    beta: f64,
    cells_per_unit: f64,
    /// For each cell the coefficients of value and slope, lowest first, in the
    /// coordinate that runs from -1 to 1 over the cell.
    cells: Vec<[[f64; TERMS]; 2]>,
    /// The same for single precision, made when it is needed.
    pieces: OnceLock<Pieces<f32>>,
    /// The caps of links by their weight, once they were asked for.
    link_caps: OnceLock<LinkCaps>,
}

/// So many tables are kept, those built last: a search over settings asks
/// for the same few again and again, and a fit to a small graph takes less time
/// than a table.
const KEPT: usize = 8;
static TABLES: Mutex<Vec<Arc<Table>>> = Mutex::new(Vec::new());

impl Table {
    /// The table for a beta, built where it is not among those kept.
    pub fn shared(beta: f64) -> Arc<Table> {
        let kept = || TABLES.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |table: &Arc<Table>| table.beta.to_bits() == beta.to_bits();
        if let Some(table) = kept().iter().find(|table| same(table)) {
            return Arc::clone(table);
        }
        // Built outside the lock: others need not wait for it.
        let table = Arc::new(Table::new(beta));
        let mut tables = kept();
        if !tables.iter().any(same) {
            tables.insert(0, Arc::clone(&table));
            tables.truncate(KEPT);
        }
        table
    }

    /// Builds the table, in a few milliseconds.
    pub fn new(beta: f64) -> Table {
        // The steepest part is the fall of `mu e^{-beta mu}`, up to 45 e-folds
        // a unit of `s` before the term no longer matters.
        let cells_per_unit = (32.0f64).max((5.0 * (1.0 + beta)).ceil());
        let n_cells = ((HIGH - LOW) * cells_per_unit) as usize;
        let fit = Fit::<TERMS>::new();
        let cells = (0..n_cells)
            .map(|cell| {
                let centre = LOW + (cell as f64 + 0.5) / cells_per_unit;
                fit.coefficients(|u| sums::unlinked(beta, centre + 0.5 * u / cells_per_unit))
            })
            .collect();
        Table {
            beta,
            cells_per_unit,
            cells,
            pieces: OnceLock::new(),
            link_caps: OnceLock::new(),
        }
    }

    /// The coefficients of all cells, one after the other.
    pub fn flat(&self) -> Vec<f64> {
        self.cells.as_flattened().concat()
    }

    /// The cells of a unit of similarity.
    pub fn cells_per_unit(&self) -> f64 {
        self.cells_per_unit
    }

    /// Wide polynomials for single precision.
    pub fn pieces(&self) -> &Pieces<f32> {
        self.pieces.get_or_init(|| Pieces::new(self.beta, self))
    }

    /// Value and slope anywhere: from the table where it reaches, else from
    /// the formula.
    #[inline]
    pub fn evaluate(&self, s: f64) -> Term {
        if !(LOW..HIGH).contains(&s) {
            let (value, slope) = sums::unlinked(self.beta, s);
            return Term::new(value, slope);
        }
        self.inside(s)
    }

    #[inline(always)]
    fn inside(&self, s: f64) -> Term {
        let place = (s - LOW) * self.cells_per_unit;
        let cell = (place as usize).min(self.cells.len() - 1);
        let u = 2.0 * (place - cell as f64) - 1.0;
        let [value, slope] = &self.cells[cell];
        Term::new(horner(value, u), horner(slope, u))
    }

    /// The caps of links, found once and kept with the table.
    pub fn link_caps(&self, find: impl FnOnce() -> LinkCaps) -> LinkCaps {
        self.link_caps.get_or_init(find).clone()
    }

    /// Where the slope is largest.
    pub fn steepest(&self) -> f64 {
        let n = (HIGH - LOW) as usize * 64;
        let grid = (0..n).map(|step| LOW + step as f64 / 64.0);
        let mut best = (LOW, 0.0);
        for s in grid {
            let slope = self.evaluate(s).slope;
            if slope > best.1 {
                best = (s, slope);
            }
        }
        best.0
    }
}
