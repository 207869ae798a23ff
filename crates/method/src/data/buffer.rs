//! Numbers that are read and never written. Clones share them, and their owner
//! may be someone else, such as another language's array.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// A shared, read-only list of numbers ([example](crate::Matrix)).
pub struct Buffer<T: 'static>(Memory<T>);

enum Memory<T: 'static> {
    Own(Arc<Vec<T>>),
    Lent(Arc<dyn AsRef<[T]> + Send + Sync>),
}

impl<T> Buffer<T> {
    /// Numbers in the memory of someone else, who is kept as long as they are.
    pub fn lent(owner: impl AsRef<[T]> + Send + Sync + 'static) -> Buffer<T> {
        Buffer(Memory::Lent(Arc::new(owner)))
    }

    /// The numbers as a list of its own: copied only where they are shared.
    pub fn into_vec(self) -> Vec<T>
    where
        T: Clone,
    {
        match self.0 {
            Memory::Own(own) => Arc::unwrap_or_clone(own),
            Memory::Lent(lent) => (*lent).as_ref().to_vec(),
        }
    }
}

impl<T> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        match &self.0 {
            Memory::Own(own) => own,
            Memory::Lent(lent) => (**lent).as_ref(),
        }
    }
}

impl<T> From<Vec<T>> for Buffer<T> {
    fn from(values: Vec<T>) -> Self {
        Buffer(Memory::Own(Arc::new(values)))
    }
}

impl<T> Clone for Buffer<T> {
    fn clone(&self) -> Self {
        Buffer(match &self.0 {
            Memory::Own(own) => Memory::Own(own.clone()),
            Memory::Lent(lent) => Memory::Lent(lent.clone()),
        })
    }
}

impl<T: PartialEq> PartialEq for Buffer<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: fmt::Debug> fmt::Debug for Buffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_and_owners_stay() {
        let lent = Arc::new(vec![1, 2, 3]);
        struct Owner(Arc<Vec<i32>>);
        impl AsRef<[i32]> for Owner {
            fn as_ref(&self) -> &[i32] {
                &self.0
            }
        }
        let buffer = Buffer::lent(Owner(lent.clone()));
        let clone = buffer.clone();
        assert_eq!(clone.as_ptr(), lent.as_ptr());
        assert_eq!(Arc::strong_count(&lent), 2);
        drop(buffer);
        assert_eq!(clone, Buffer::from(vec![1, 2, 3]));
        assert_eq!(clone.into_vec(), [1, 2, 3]);
        assert_eq!(Arc::strong_count(&lent), 1);
    }

    #[test]
    fn own_numbers_are_taken_back_without_a_copy() {
        let values = vec![1.0, 2.0];
        let place = values.as_ptr();
        let back = Buffer::from(values).into_vec();
        assert_eq!(back.as_ptr(), place);
    }
}
