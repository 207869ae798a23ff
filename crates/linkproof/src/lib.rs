//! Graph embedding that holds up when the links are wrong.
//!
//! Everything of [`linkproof_method`] stands at the root, files are in [`io`], and sentences
//! about results in [`text`]:
//!
//! ```
//! use linkproof::{Dataset, Params};
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let (links, features) = (folder.path().join("links.csv"), folder.path().join("features.csv"));
//! # std::fs::write(&links, "src,dst,weight\na,b,1\nb,c,1\nc,a,1\nd,e,1\ne,f,1\nf,d,1\na,d,100\n").unwrap();
//! # std::fs::write(&features, "node,x,y\na,1,0\nb,1,.1\nc,.9,0\nd,0,1\ne,.1,1\nf,0,.9\n").unwrap();
//! let graph = linkproof::io::read_links(&links, &Default::default())?;
//! let data = Dataset::new(graph, linkproof::io::read_features(&features)?)?;
//! let params = Params { dim: 2, beta: 0.5, ..Default::default() }.check()?;
//! let fitted = linkproof::fit(&params, &data)?;
//! // The absurd weight is expected to be a small one.
//! assert!(fitted.mu(0, 3) < 10.0);
//! linkproof::io::save(&fitted, folder.path().join("model"))?;
//! # Ok::<(), linkproof::Error>(())
//! ```

#[doc(inline)]
pub use linkproof_files as io;
#[doc(inline)]
pub use linkproof_method::*;
#[doc(inline)]
pub use linkproof_text as text;

/// The README's Rust example is a test.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
