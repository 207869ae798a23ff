//! How far links can be believed, and fits that use it.

pub mod audit;
pub mod judge;
pub mod robust;
pub mod smooth;
