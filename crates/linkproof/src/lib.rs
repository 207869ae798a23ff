//! facade
pub use linkproof_files as io;
#[doc(inline)]
pub use linkproof_method::*;
