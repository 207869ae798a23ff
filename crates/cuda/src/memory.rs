//! Memory of the card that serves again from pass to pass.

use cudarc::driver::sys::CUdeviceptr;
use cudarc::driver::{
    CudaSlice, DevicePtr, DeviceRepr, HostSlice, PinnedHostSlice, ValidAsZeroBits,
};
use linkproof_method::error::Result;

use crate::card::Place;
use crate::pass::Number;

/// A buffer that grows where a pass needs more.
#[derive(Debug)]
pub struct Buffer<T> {
    slice: Option<CudaSlice<T>>,
}

impl<T> Default for Buffer<T> {
    fn default() -> Buffer<T> {
        Buffer { slice: None }
    }
}

impl<T: DeviceRepr> Buffer<T> {
    /// Its memory, with room for so many numbers; what stood there may be lost.
    pub fn room(&mut self, on: &Place, len: usize) -> Result<&mut CudaSlice<T>> {
        let fits = self.slice.as_ref().is_some_and(|slice| slice.len() >= len);
        if !fits {
            // The old memory goes first: both might not fit.
            self.slice = None;
            // SAFETY: every pass writes what it reads.
            let fresh = unsafe { on.stream.alloc(len.max(1)) };
            self.slice = Some(on.device.check("memory", fresh)?);
        }
        self.slice
            .as_mut()
            .ok_or_else(|| on.device.error("memory that is gone", "a bug in linkproof"))
    }

    /// Copies numbers up.
    pub fn fill(&mut self, on: &Place, numbers: &(impl HostSlice<T> + ?Sized)) -> Result<()> {
        let len = numbers.len();
        let slice = self.room(on, len)?;
        let copied = on.stream.memcpy_htod(numbers, &mut slice.slice_mut(..len));
        on.device.check("copying to the card", copied)
    }

    /// Copies the first numbers down.
    pub fn read(&self, on: &Place, numbers: &mut [T]) -> Result<()> {
        if let (Some(slice), false) = (&self.slice, numbers.is_empty()) {
            let copied = on
                .stream
                .memcpy_dtoh(&slice.slice(..numbers.len()), numbers);
            on.device.check("copying from the card", copied)?;
        }
        on.device.check("the card's work", on.stream.synchronize())
    }

    /// Fills the first numbers with zeros.
    pub fn clear(&mut self, on: &Place, len: usize) -> Result<()>
    where
        T: ValidAsZeroBits,
    {
        let slice = self.room(on, len)?;
        let cleared = on.stream.memset_zeros(&mut slice.slice_mut(..len));
        on.device.check("clearing memory", cleared)
    }

    /// Where it is; 0 where there is none.
    pub fn address(&self, on: &Place) -> CUdeviceptr {
        self.slice
            .as_ref()
            .map_or(0, |slice| slice.device_ptr(&on.stream).0)
    }
}

/// Memory of the host that a card copies to and from at full speed.
#[derive(Debug)]
pub struct Staging<T> {
    slice: Option<PinnedHostSlice<T>>,
}

impl<T> Default for Staging<T> {
    fn default() -> Staging<T> {
        Staging { slice: None }
    }
}

impl<T: Number> Staging<T> {
    fn room(&mut self, on: &Place, len: usize) -> Result<&mut PinnedHostSlice<T>> {
        if self.slice.as_ref().is_none_or(|slice| slice.len() != len) {
            self.slice = None;
            self.slice = Some(on.device.pinned(len)?);
        }
        self.slice
            .as_mut()
            .ok_or_else(|| on.device.error("memory that is gone", "a bug in linkproof"))
    }

    /// Copies numbers up.
    pub fn up(&mut self, on: &Place, numbers: &[T], to: &mut Buffer<T>) -> Result<()> {
        let staged = self.room(on, numbers.len())?;
        let here = on
            .device
            .check("memory of the host", staged.as_mut_slice())?;
        here.copy_from_slice(numbers);
        to.fill(on, staged)
    }

    /// Copies the first numbers down.
    pub fn down(&mut self, on: &Place, from: &Buffer<T>, numbers: &mut [T]) -> Result<()> {
        let staged = self.room(on, numbers.len())?;
        if let Some(slice) = &from.slice {
            let copied = on.stream.memcpy_dtoh(&slice.slice(..numbers.len()), staged);
            on.device.check("copying from the card", copied)?;
        }
        on.device
            .check("the card's work", on.stream.synchronize())?;
        let here = on.device.check("memory of the host", staged.as_slice())?;
        numbers.copy_from_slice(here);
        Ok(())
    }
}
