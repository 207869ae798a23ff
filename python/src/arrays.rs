//! NumPy's memory, read where it stands.

use linkproof::data::buffer::Buffer;
use linkproof::data::features::{Offsets, Values};
use numpy::{Element, PyArray1, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// An array of NumPy with the address and number of its entries. The reference
/// keeps the memory alive; as for every extension of NumPy, the caller must not
/// write to the array while a method runs.
struct Lent<T> {
    _array: Py<PyAny>,
    entries: *const T,
    len: usize,
}

// SAFETY: the entries are plain numbers that are only read, and the reference
// to the array is one that may cross threads.
unsafe impl<T: Sync> Send for Lent<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Lent<T> {}

impl<T> AsRef<[T]> for Lent<T> {
    fn as_ref(&self) -> &[T] {
        if self.len == 0 {
            return &[];
        }
        // SAFETY: NumPy aligns what passed the check of `lend`, the array is
        // contiguous and alive, and has so many entries.
        unsafe { std::slice::from_raw_parts(self.entries, self.len) }
    }
}

/// The entries of an array of `E`, read as numbers of type `T`, of which every
/// `E` of the same bits is one.
fn lend<E: Element, T: Sync + 'static>(
    array: &Bound<'_, PyArrayDyn<E>>,
    name: &str,
) -> PyResult<Buffer<T>> {
    const { assert!(size_of::<E>() == size_of::<T>()) };
    let entries = array.data().cast::<T>().cast_const();
    if !array.is_c_contiguous() || !entries.is_aligned() {
        let message = format!("{name}: expected an aligned, C-contiguous array");
        return Err(PyTypeError::new_err(message));
    }
    Ok(Buffer::lent(Lent {
        _array: array.clone().into_any().unbind(),
        entries,
        len: array.len(),
    }))
}

fn unexpected(array: &Bound<'_, PyAny>, name: &str, expected: &str) -> PyErr {
    let found = array
        .getattr("dtype")
        .map_or_else(|_| array.get_type().to_string(), |dtype| dtype.to_string());
    PyTypeError::new_err(format!("{name}: found {found}; expected {expected}"))
}

/// Reals, in the precision in which they are.
pub fn reals(array: &Bound<'_, PyAny>, name: &str) -> PyResult<Values> {
    if let Ok(array) = array.cast::<PyArrayDyn<f32>>() {
        return Ok(Values::F32(lend::<f32, f32>(array, name)?));
    }
    if let Ok(array) = array.cast::<PyArrayDyn<f64>>() {
        return Ok(Values::F64(lend::<f64, f64>(array, name)?));
    }
    Err(unexpected(array, name, "float32 or float64"))
}

/// Reals in double precision, without a copy where they are.
pub fn doubles(array: &Bound<'_, PyAny>, name: &str) -> PyResult<Buffer<f64>> {
    Ok(match reals(array, name)? {
        Values::F64(values) => values,
        Values::F32(values) => values
            .iter()
            .map(|&x| f64::from(x))
            .collect::<Vec<_>>()
            .into(),
    })
}

/// Whole numbers of SciPy, as they are.
pub enum Whole {
    /// In 32 bits.
    Narrow(Buffer<i32>),
    /// In 64 bits.
    Wide(Buffer<i64>),
}

/// Whole numbers.
pub fn whole(array: &Bound<'_, PyAny>, name: &str) -> PyResult<Whole> {
    if let Ok(array) = array.cast::<PyArrayDyn<i32>>() {
        return Ok(Whole::Narrow(lend::<i32, i32>(array, name)?));
    }
    if let Ok(array) = array.cast::<PyArrayDyn<i64>>() {
        return Ok(Whole::Wide(lend::<i64, i64>(array, name)?));
    }
    Err(unexpected(array, name, "int32 or int64"))
}

/// Places, of which none is negative: where one is, it becomes larger than any
/// place can be, and is refused for that.
pub fn places(array: &Bound<'_, PyAny>, name: &str) -> PyResult<Buffer<u32>> {
    if let Ok(array) = array.cast::<PyArrayDyn<i32>>() {
        return lend::<i32, u32>(array, name);
    }
    let narrow = |&place: &i64| u32::try_from(place).unwrap_or(u32::MAX);
    match whole(array, name)? {
        Whole::Wide(places) => Ok(places.iter().map(narrow).collect::<Vec<u32>>().into()),
        Whole::Narrow(_) => Err(unexpected(array, name, "int32 or int64")),
    }
}

/// Rows, as they are.
pub fn rows(array: &Bound<'_, PyArray1<u32>>, name: &str) -> PyResult<Buffer<u32>> {
    lend::<u32, u32>(array.to_dyn(), name)
}

/// Where rows start; negative numbers are refused as too large.
pub fn offsets(array: &Bound<'_, PyAny>, name: &str) -> PyResult<Offsets> {
    if let Ok(array) = array.cast::<PyArrayDyn<i32>>() {
        return Ok(Offsets::Narrow(lend::<i32, u32>(array, name)?));
    }
    if let Ok(array) = array.cast::<PyArrayDyn<i64>>()
        && size_of::<usize>() == size_of::<i64>()
    {
        return Ok(Offsets::Wide(lend::<i64, usize>(array, name)?));
    }
    Err(unexpected(array, name, "int32 or int64"))
}
