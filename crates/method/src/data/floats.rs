//! Numbers in messages and kept states: their bytes, so that they keep every bit.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use linkproof_numeric::real::Real;

/// Numbers that serde writes as their bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Floats<'n, T: Real>(Cow<'n, [T]>);

impl<T: Real> Floats<'_, T> {
    /// The numbers as a list of its own.
    pub fn into_vec(self) -> Vec<T> {
        self.0.into_owned()
    }
}

impl<T: Real> From<Vec<T>> for Floats<'_, T> {
    fn from(numbers: Vec<T>) -> Self {
        Floats(Cow::Owned(numbers))
    }
}

impl<'n, T: Real> From<&'n [T]> for Floats<'n, T> {
    fn from(numbers: &'n [T]) -> Self {
        Floats(Cow::Borrowed(numbers))
    }
}

impl<T: Real> Deref for Floats<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: Real> Serialize for Floats<'_, T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut bytes = Vec::with_capacity(size_of_val(&**self));
        match T::to_f32s(self) {
            Some(numbers) => numbers.iter().for_each(|x| bytes.extend(x.to_le_bytes())),
            None => { self.iter() }.for_each(|x| bytes.extend(x.to_f64().to_le_bytes())),
        }
        to.serialize_bytes(&bytes)
    }
}

impl<'d, T: Real> Deserialize<'d> for Floats<'_, T> {
    fn deserialize<D: Deserializer<'d>>(from: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl Visitor<'_> for Bytes {
            type Value = Vec<u8>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
                Ok(bytes.to_vec())
            }

            fn visit_byte_buf<E>(self, bytes: Vec<u8>) -> Result<Vec<u8>, E> {
                Ok(bytes)
            }
        }
        let bytes = from.deserialize_byte_buf(Bytes)?;
        let number = |bytes: &[u8]| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            let bits = u64::from_le_bytes(word);
            T::of(match T::IS_SINGLE {
                true => f64::from(f32::from_bits(bits as u32)),
                false => f64::from_bits(bits),
            })
        };
        let numbers = bytes.chunks_exact(size_of::<T>()).map(number);
        Ok(Floats(numbers.collect()))
    }
}

/// Writes a field as [`Floats`].
pub fn serialize<T: Real, S: Serializer>(
    numbers: &impl Deref<Target = [T]>,
    to: S,
) -> Result<S::Ok, S::Error> {
    Floats::from(&**numbers).serialize(to)
}

/// Reads a field that was written as [`Floats`].
pub fn deserialize<'d, T: Real, V: From<Vec<T>>, D: Deserializer<'d>>(
    from: D,
) -> Result<V, D::Error> {
    Ok(Floats::<T>::deserialize(from)?.into_vec().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_travels() {
        let numbers = [
            0.0f64,
            -0.0,
            f64::NAN,
            f64::INFINITY,
            1.0 / 3.0,
            f64::MIN_POSITIVE,
        ];
        let mut bytes = Vec::new();
        ciborium::into_writer(&Floats::from(&numbers[..]), &mut bytes).unwrap();
        let found: Floats<'_, f64> = ciborium::from_reader(&bytes[..]).unwrap();
        let bits = |numbers: &[f64]| numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&found), bits(&numbers));
        assert!(ciborium::from_reader::<Floats<'_, f64>, _>(&bytes[..9]).is_err());
    }
}
