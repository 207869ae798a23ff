//! Listed pairs of an objective on the card, and sums that are estimated.

use linkproof_method::engine::Look;
use linkproof_method::engine::pairs::{AllPairs, Part, Sums, ViewMatrix};
use linkproof_method::error::Result;
use linkproof_method::score::Score;

use super::{NOWHERE, Resident, variant};
use crate::card::{CardPairs, Place, blocks, over};
use crate::compile::Variant;
use crate::layout::Layout;
use crate::lists::{List, Listed};
use crate::memory::Buffer;
use crate::pass::{Number, Pass};
use crate::vectors::launch;

impl<T: Number> Resident<'_, T> {
    /// All links, and the pairs inside a few fixed blocks of nodes.
    pub(super) fn estimated(
        &mut self,
        state: &mut CardPairs<T>,
        part: Part,
        by: (&ViewMatrix, &Score),
    ) -> Result<Sums> {
        let problem = self.problem;
        let on = &self.pairs.on.clone();
        let mut all_rows = std::mem::take(&mut self.all_rows);
        let mut all_mirror = self.all_mirror.take();
        let mut layout = self.layout.clone();
        layout.width = state.layout(on, &self.all(part, false), layout.dim).width;
        self.embed((&mut all_rows, &mut all_mirror), &layout, by.1, None)?;
        let from = all_rows.address(on);
        let from_mirror = all_mirror.as_ref().map(|mirror| mirror.address(on));
        let (dim, width) = (layout.dim as u32, layout.width as u32);
        let mut total = Sums::zero(self.rows.len());
        for drawn in Look::blocks(problem) {
            let (mut views, mut nodes) = (Vec::new(), Vec::new());
            for (view, rows) in problem.encoders().iter().zip(&drawn.rows) {
                views.push(nodes.len()..nodes.len() + rows.len());
                nodes.extend(rows.iter().map(|&row| view.rows.start as u32 + row));
            }
            let inside = AllPairs {
                rows: &views,
                scale: &drawn.scale,
                nodes: &nodes,
                ..self.all(part, false)
            };
            let block = state.layout(on, &inside, layout.dim);
            let mut places = vec![NOWHERE; block.rows];
            for here in &block.places {
                for (at, joined) in (here.start..).zip(here.rows.clone()) {
                    places[at] = (self.place_of(nodes[joined] as usize) * layout.width) as u64;
                }
            }
            self.places.fill(on, places.as_slice())?;
            let (places, count) = (self.places.address(on), block.rows as u32);
            state.mirror = from_mirror.map(|_| state.mirror.take().unwrap_or_default());
            let sides = [
                Some((from, &mut state.rows)),
                from_mirror.zip(state.mirror.as_mut()),
            ];
            for (from, to) in sides.into_iter().flatten() {
                to.room(on, block.rows * block.width)?;
                let to = to.address(on);
                launch!(
                    on, variant::<T>(by.1), "gather", over(block.rows * block.width);
                    &from, &places, &count, &dim, &width, &to
                )?;
            }
            total.add(&state.run(on, &block, &inside, by, false)?);
        }
        let embedded = (&layout, (from, from_mirror.unwrap_or(from)));
        self.add_listed(state, embedded, part, by, (&mut total, false))?;
        (self.all_rows, self.all_mirror) = (all_rows, all_mirror);
        Ok(total)
    }

    /// Adds to a sum over all pairs of a part what is known pair by pair.
    pub(super) fn add_listed(
        &mut self,
        state: &mut CardPairs<T>,
        (layout, (left, right)): (&Layout, (u64, u64)),
        part: Part,
        (gamma, score): (&ViewMatrix, &Score),
        (sums, wants_gradient): (&mut Sums, bool),
    ) -> Result<()> {
        let on = &self.pairs.on.clone();
        let n_views = self.rows.len();
        self.tell_gamma(gamma)?;
        let pass = Pass {
            left,
            right,
            ..state.pass(on, layout, score)?
        };
        let (links, aside) = match part {
            Part::Training => (Some(&self.training), self.aside.as_ref()),
            Part::HeldOut => (self.held_out.as_ref(), self.impossible[0].as_ref()),
            Part::Judged => (self.judged.as_ref(), self.impossible[1].as_ref()),
        };
        let lists = [
            links.map(|list| (list, 1.0)),
            aside.map(|list| (list, -1.0)),
        ];
        for (list, factor) in lists.into_iter().flatten() {
            let corrects = factor > 0.0;
            let own;
            let caps = match score.cap() == self.score.cap() {
                true => &list.caps,
                false => {
                    own = list.caps_of(on, score)?;
                    &own
                }
            };
            self.row_sums.clear(on, layout.rows * n_views * 2)?;
            let listed = Listed {
                gradient: match wants_gradient {
                    true => state.gradient.address(on),
                    false => 0,
                },
                ..self.listed(list, caps, factor)
            };
            let config = blocks(layout.rows.div_ceil(8), 256);
            let kernels = variant::<T>(score);
            launch!(on, kernels, "listed", config; &pass, &listed)?;
            let by = (on, kernels);
            Resident::<T>::add_row_sums(by, &self.row_sums, &mut self.sums, layout, sums)?;
            if !corrects {
                let counted = list.later.iter().map(|later| f64::from(*later));
                sums.pairs += factor * counted.sum::<f64>();
            }
        }
        Ok(())
    }

    /// Tells kernels the gammas.
    pub fn tell_gamma(&mut self, gamma: &ViewMatrix) -> Result<()> {
        let n_views = self.rows.len();
        let entries = (0..n_views).flat_map(|d| (0..n_views).map(move |e| (d, e)));
        let entries: Vec<f64> = entries.map(|(d, e)| gamma.get(d, e)).collect();
        let on = &self.pairs.on;
        self.gamma.fill(on, entries.as_slice())
    }

    /// What a kernel is told of a list.
    pub fn listed(&self, list: &List, caps: &Buffer<f64>, factor: f64) -> Listed {
        let on = &self.pairs.on;
        Listed {
            offsets: list.offsets.address(on),
            targets: list.targets.address(on),
            weights: list.weights.address(on),
            caps: caps.address(on),
            views: self.view_of.address(on),
            gamma: self.gamma.address(on),
            takes: 0,
            gradient: 0,
            sums: self.row_sums.address(on),
            factor,
            n_views: self.rows.len() as u32,
            corrects: i32::from(factor > 0.0),
        }
    }

    /// Adds up what rows found, for each pair of views.
    pub fn add_row_sums(
        (on, kernels): (&Place, Variant),
        row_sums: &Buffer<f64>,
        sums_there: &mut Buffer<f64>,
        layout: &Layout,
        sums: &mut Sums,
    ) -> Result<()> {
        let n_views = layout.places.len();
        sums_there.room(on, n_views * n_views * 2)?;
        let columns = 2 * n_views as u32;
        for (d, place) in layout.places.iter().enumerate() {
            let row = (place.start * n_views * 2 * size_of::<f64>()) as u64;
            let from = row_sums.address(on) + row;
            let to = sums_there.address(on) + (d * n_views * 2 * size_of::<f64>()) as u64;
            let count = place.rows.len() as u32;
            let config = blocks(2 * n_views, 256);
            launch!(on, kernels, "column_sums", config; &from, &count, &columns, &to)?;
        }
        let mut found = vec![0.0; n_views * n_views * 2];
        sums_there.read(on, &mut found)?;
        for (place, found) in found.chunks_exact(2).enumerate() {
            sums.value += found[0];
            sums.gamma.add(place / n_views, place % n_views, -found[1]);
        }
        Ok(())
    }
}
