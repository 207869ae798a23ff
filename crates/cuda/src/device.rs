//! A graphics card, and the backend that computes on it.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::sys::{self, CUdevice_attribute, CUfunction_attribute_enum, CUresult};
use cudarc::driver::{
    CudaContext, CudaFunction, CudaModule, CudaStream, DriverError, PinnedHostSlice,
};
use cudarc::nvrtc::Ptx;
use linkproof_method::engine::objective::Problem;
use linkproof_method::engine::{Backend, Engine};
use linkproof_method::error::{Error, Result};

use crate::compile::{Variant, compiled};
use crate::engine::CudaEngine;
use crate::pass::Number;
use crate::shares::CardShares;

/// How products of numbers in single precision are computed on tensor cores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Products {
    /// As exactly as single precision: three products for each.
    #[default]
    Exact,
    /// With eleven binary digits, as tf32 has; more than twice as fast.
    Fast,
    /// Without tensor cores.
    Plain,
}

/// Where objectives with networks, dropout, offsets, signs or impossible pairs are computed.
/// Those of plain tables and linear maps always are on the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Objectives {
    /// On the card, from data vectors to the gradient.
    #[default]
    Card,
    /// On the host, with their sums over all pairs on the card.
    Host,
}

/// The oldest cards that the kernels run on (Volta), as NVIDIA counts.
const OLDEST: (i32, i32) = (7, 0);

/// A card.
pub struct Device {
    context: Arc<CudaContext>,
    name: String,
    model: String,
    architecture: String,
    /// Whether it has the tensor cores of Hopper.
    pub is_hopper: bool,
    /// Its multiprocessors.
    pub processors: usize,
    modules: Mutex<HashMap<Variant, Arc<CudaModule>>>,
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// A graphics card that fits are computed on.
///
/// ```no_run
/// use linkproof::{Dataset, Fit, Graph, Params, Runtime};
/// use linkproof_cuda::Cuda;
///
/// # let data = Dataset::from_links(Graph::from_rows(4, &[(0, 1, 1.0), (2, 3, 1.0)])?)?;
/// let params = Params { dim: 2, ..Default::default() }.check()?;
/// let card = Cuda::open(0)?;
/// let fitted = Fit::new(&params).runtime(Runtime::default().on(&card)).run(&data)?;
/// # Ok::<(), linkproof::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Cuda {
    pub(crate) device: Arc<Device>,
    pub(crate) products: Products,
    pub(crate) objectives: Objectives,
}

impl Cuda {
    /// How many cards there are; 0 without a driver.
    pub fn count() -> usize {
        // SAFETY: looks for a library and loads it.
        let has_driver = unsafe { sys::is_culib_present() };
        let count = has_driver.then(|| {
            cudarc::driver::result::init().ok()?;
            CudaContext::device_count().ok()
        });
        count.flatten().map_or(0, |count| count.max(0) as usize)
    }

    /// A card by its number.
    ///
    /// # Errors
    /// [`Error::Device`] where there is no driver, no such card, or one that is too old.
    pub fn open(number: usize) -> Result<Cuda> {
        let wrong = |found: String, expected: &str| Error::Device {
            device: format!("cuda:{number}"),
            found: format!("{found}; {expected}"),
        };
        // SAFETY: looks for a library and loads it.
        if !unsafe { sys::is_culib_present() } {
            return Err(wrong(
                "this machine has no driver for NVIDIA cards".to_owned(),
                "install it, or compute on the processor (device cpu)",
            ));
        }
        match Cuda::count() {
            0 => {
                let found = "this machine has no NVIDIA card that can be used".to_owned();
                return Err(wrong(found, "compute on the processor (device cpu)"));
            }
            count if number >= count => {
                let found = format!("the cards here are numbered 0 to {}", count - 1);
                return Err(wrong(found, "name one of them"));
            }
            _ => {}
        }
        let driver = |error: DriverError| wrong(in_words(error), "see nvidia-smi");
        let context = CudaContext::new(number).map_err(driver)?;
        // SAFETY: each engine has one stream, and shares no memory with others.
        unsafe { context.disable_event_tracking() };
        let (major, minor) = context.compute_capability().map_err(driver)?;
        let name = context.name().map_err(driver)?;
        if (major, minor) < OLDEST {
            let found = format!("{name} is too old (compute capability {major}.{minor})");
            return Err(wrong(
                found,
                "7.0 or later, or compute on the processor (device cpu)",
            ));
        }
        let count = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
        let processors = context.attribute(count).map_err(driver)? as usize;
        let is_hopper = major == 9;
        Ok(Cuda {
            device: Arc::new(Device {
                context,
                name: format!("cuda:{number} ({name})"),
                model: name,
                architecture: format!("sm_{major}{minor}{}", if is_hopper { "a" } else { "" }),
                is_hopper,
                processors,
                modules: Mutex::default(),
            }),
            products: Products::default(),
            objectives: Objectives::default(),
        })
    }

    /// The same card with other products.
    pub fn products(self, products: Products) -> Cuda {
        Cuda { products, ..self }
    }

    /// The same card with objectives computed elsewhere.
    pub fn objectives(self, objectives: Objectives) -> Cuda {
        Cuda { objectives, ..self }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.device.name
    }

    /// What its results depend on: the kind of card, and how it computes products. Cards
    /// that have it in common give the same bits, if their kernels were compiled alike.
    pub fn kind(&self) -> String {
        let Device {
            model,
            architecture,
            processors,
            ..
        } = &*self.device;
        let products = match self.products {
            Products::Exact => "exact",
            Products::Fast => "fast",
            Products::Plain => "plain",
        };
        format!("{model} ({architecture}, {processors} multiprocessors, {products} products)")
    }

    /// Shares of passes over all pairs.
    ///
    /// # Errors
    /// [`Error::Device`] where the card does not answer.
    pub fn shares<T: Number>(&self) -> Result<CardShares<T>> {
        CardShares::new(&self.device, self.products_of::<T>())
    }

    /// Tensor cores are for single precision.
    pub(crate) fn products_of<T: Number>(&self) -> Products {
        match T::IS_SINGLE {
            true => self.products,
            false => Products::Plain,
        }
    }

    /// Bytes of its memory that are free, and all of them.
    ///
    /// # Errors
    /// [`Error::Device`] where the card does not answer.
    pub fn memory(&self) -> Result<(usize, usize)> {
        self.device.memory()
    }
}

impl Backend for Cuda {
    fn single<'p>(&self, problem: &'p Problem<'p>) -> Result<Box<dyn Engine<f32> + 'p>> {
        Ok(Box::new(CudaEngine::new(self, problem)?))
    }

    fn double<'p>(&self, problem: &'p Problem<'p>) -> Result<Box<dyn Engine<f64> + 'p>> {
        Ok(Box::new(CudaEngine::new(self, problem)?))
    }
}

impl Device {
    /// Bytes of memory that are free, and all of them.
    pub fn memory(&self) -> Result<(usize, usize)> {
        self.check("memory", self.context.mem_get_info())
    }

    /// Memory of the host that the card reads and writes by itself.
    pub fn pinned<T: Number>(&self, len: usize) -> Result<PinnedHostSlice<T>> {
        // SAFETY: any bits are numbers, and they are written before they are read.
        let slice = unsafe { self.context.alloc_pinned_with_flags(len, 0) };
        self.check("memory of the host", slice)
    }

    /// A stream of work.
    pub fn stream(&self) -> Result<Arc<CudaStream>> {
        self.check("a stream", self.context.new_stream())
    }

    /// A kernel of a variant.
    pub fn function(&self, variant: Variant, name: &str) -> Result<CudaFunction> {
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        let module = match modules.get(&variant) {
            Some(module) => Arc::clone(module),
            None => {
                let code = compiled(variant, &self.architecture, &self.name)?;
                let module = self.context.load_module(Ptx::from_binary(code));
                let module = self.check("loading a kernel", module)?;
                modules.insert(variant, Arc::clone(&module));
                module
            }
        };
        let function = self.check("a kernel", module.load_function(name))?;
        if name == "pairs" && variant.shared_bytes() > 1024 {
            let bytes = variant.shared_bytes() as i32;
            let attribute =
                CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            self.check("shared memory", function.set_attribute(attribute, bytes))?;
        }
        Ok(function)
    }

    /// What the driver said, as an error of ours.
    pub fn check<V>(&self, what: &str, result: std::result::Result<V, DriverError>) -> Result<V> {
        result.map_err(|error| {
            let expected = match error.0 {
                CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
                    "fewer fits at once, fewer nodes, or the processor (device cpu)"
                }
                _ => "see nvidia-smi, or compute on the processor (device cpu)",
            };
            self.error(format!("{what}: {}", in_words(error)), expected)
        })
    }

    /// An error about this card.
    pub fn error(&self, found: impl Into<String>, expected: &str) -> Error {
        Error::Device {
            device: self.name.clone(),
            found: format!("{}; {expected}", found.into()),
        }
    }
}

/// What the driver says of an error.
fn in_words(error: DriverError) -> String {
    match error.error_string() {
        Ok(words) => words.to_string_lossy().into_owned(),
        Err(_) => format!("{:?}", error.0),
    }
}
