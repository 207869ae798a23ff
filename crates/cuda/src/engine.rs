//! The engine of a card.
//!
//! Objectives stay on the card, with steps over all pairs and sweeps over plain tables.
//! Steps that look at samples, and sweeps with offsets or signs, are computed on the host,
//! with all sums over pairs on the card.

use std::sync::Arc;

use linkproof_method::engine::objective::Problem;
use linkproof_method::engine::pairs::Part;
use linkproof_method::engine::{
    CpuEngine, EXACT_NODES, Embedding, Engine, Look, ObjectiveValue, OptimizerMemory, PartSum,
    Plan, StepOutcome,
};
use linkproof_method::error::Result;
use linkproof_method::score::Score;

use crate::card::Memory;
use crate::descent::Descent;
use crate::device::{Cuda, Objectives};
use crate::pairs::{DevicePairs, HostPairs};
use crate::pass::Number;
use crate::resident::Resident;

/// The engine of [`crate::Cuda`].
pub struct CudaEngine<'p, T: Number> {
    problem: &'p Problem<'p>,
    host: CpuEngine<'p, T>,
    resident: Option<Resident<'p, T>>,
    /// A first-order method at work on the card.
    descent: Option<Descent<T>>,
    /// Whether the parameters on the card are newer than the host's, or older.
    is_ahead: bool,
    is_behind: bool,
    /// The sum over the held-out pairs at these parameters, where a pass knows it.
    watched: Option<PartSum>,
}

impl<'p, T: Number> CudaEngine<'p, T> {
    /// An engine for a problem, all parameters zero.
    pub fn new(card: &Cuda, problem: &'p Problem<'p>) -> Result<CudaEngine<'p, T>> {
        let products = card.products_of::<T>();
        let pairs = Arc::new(DevicePairs::<T>::new(&card.device, products, Memory::Free)?);
        let host = HostPairs(Arc::clone(&pairs));
        let on_card = match card.objectives {
            Objectives::Card => Resident::<T>::serves(problem),
            Objectives::Host => Resident::<T>::is_plain(problem),
        };
        Ok(CudaEngine {
            problem,
            host: CpuEngine::with(problem, Box::new(host)),
            resident: match on_card {
                true => Some(Resident::new(problem, &pairs)?),
                false => None,
            },
            descent: None,
            is_ahead: false,
            is_behind: true,
            watched: None,
        })
    }

    /// Sees that the host has the parameters in place.
    fn bring_down(&mut self) -> Result<()> {
        if let (Some(resident), true) = (&mut self.resident, self.is_ahead) {
            self.host.load(resident.read()?)?;
            self.is_ahead = false;
        }
        Ok(())
    }

    /// What is on the card, with the parameters in place.
    fn resident(&mut self) -> Result<Option<&mut Resident<'p, T>>> {
        if let (Some(resident), true) = (&mut self.resident, self.is_behind) {
            resident.load(&self.host.parameters()?)?;
            self.is_behind = false;
        }
        Ok(self.resident.as_mut())
    }
}

impl<T: Number> Engine<T> for CudaEngine<'_, T> {
    fn problem(&self) -> &Problem<'_> {
        self.problem
    }

    fn load(&mut self, theta: &[T]) -> Result<()> {
        self.descent = None;
        match &mut self.resident {
            // The host hears of it where it is asked.
            Some(resident) => {
                if resident.load(theta)? {
                    self.watched = None;
                }
                (self.is_ahead, self.is_behind) = (true, false);
                Ok(())
            }
            None => self.host.load(theta),
        }
    }

    fn parameters(&mut self) -> Result<Vec<T>> {
        self.bring_down()?;
        self.host.parameters()
    }

    fn objective(&mut self, gradient: Option<&mut [T]>) -> Result<ObjectiveValue> {
        let watches = gradient.is_some()
            && self.problem.has_held_out()
            && self.problem.trains_as_it_infers()
            && self.problem.n_nodes() <= EXACT_NODES;
        if let Some(resident) = self.resident()? {
            let found = resident.objective(watches, gradient)?;
            if watches {
                self.watched = found.held_out;
            }
            return Ok(found);
        }
        self.host.objective(gradient)
    }

    fn sums(&mut self, part: Part, by: Option<&Score>, look: Look) -> Result<PartSum> {
        let is_estimate = look.estimates(self.problem.n_nodes());
        let is_known = part == Part::HeldOut && by.is_none() && look.k == 1.0 && !is_estimate;
        if let Some(known) = self.watched.filter(|_| is_known) {
            return Ok(known);
        }
        if let Some(resident) = self.resident()? {
            return resident.part_sum(part, by, look);
        }
        self.host.sums(part, by, look)
    }

    fn begin(&mut self, plan: &Plan) -> Result<()> {
        self.descent = match self.resident()? {
            Some(resident) => Descent::new(resident, plan)?,
            None => None,
        };
        match self.descent {
            Some(_) => Ok(()),
            None => {
                self.bring_down()?;
                self.host.begin(plan)
            }
        }
    }

    fn step(&mut self, step: u64) -> Result<StepOutcome> {
        self.watched = None;
        if let (Some(descent), Some(resident)) = (&mut self.descent, &mut self.resident) {
            self.is_ahead = true;
            return descent.step(resident, step);
        }
        self.is_behind = true;
        self.host.step(step)
    }

    fn memory(&mut self) -> Result<Option<OptimizerMemory<'_, T>>> {
        match (&self.descent, &self.resident) {
            (Some(descent), Some(resident)) => descent.memory(resident).map(Some),
            _ => self.host.memory(),
        }
    }

    fn resume(&mut self, plan: &Plan, memory: OptimizerMemory<'_, T>) -> Result<()> {
        self.begin(plan)?;
        match (&mut self.descent, &self.resident) {
            (Some(descent), Some(resident)) => descent.recall(resident, &memory),
            _ => self.host.resume(plan, memory),
        }
    }

    fn start(&mut self, scale: f64) -> Result<Vec<T>> {
        self.host.start(scale)
    }

    fn embed(&mut self) -> Result<Embedding<T>> {
        self.bring_down()?;
        self.host.embed()
    }
}
