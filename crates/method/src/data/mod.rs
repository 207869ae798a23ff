//! Links and data vectors, checked and joined.
//!
//! ```
//! use linkproof::data::dataset::NodeViews;
//! use linkproof::data::graph::{Duplicates, Graph, Link, LinkRules};
//! use linkproof::data::ids::{Ids, Names};
//! use linkproof::{Dataset, Features, Matrix};
//!
//! // Two views: people without data vectors, and shops. A pair is listed twice.
//! let mut names = Names::default();
//! names.insert_all(&["ann", "bob", "shop"]);
//! let ids = Ids::from(names);
//! let link = |src, dst, weight| Link { src, dst, weight };
//! let rules = LinkRules { duplicates: Duplicates::Sum, ..Default::default() };
//! let listed = vec![link(0, 2, 1.0), link(1, 2, 2.0), link(1, 2, 3.0)];
//! let graph = Graph::new(ids.clone(), listed, rules)?;
//! assert_eq!((graph.weight(1, 2), graph.counts().merged), (Some(5.0), 1));
//! assert_eq!(graph.adjacency().row(2).0, [0, 1]);
//!
//! let views = ["person", "person", "shop"].map(String::from).to_vec();
//! let nodes = NodeViews { ids, views, rows: None };
//! let shops = Features::new(Matrix::dense(1, 2, vec![0.5, 1.0])?);
//! let data = Dataset::with_views(graph, nodes, vec![("shop".to_owned(), shops)])?;
//! let shop = &data.views()[0];
//! assert_eq!((shop.name.as_str(), shop.matrix.is_some()), ("shop", true));
//! # Ok::<(), linkproof::Error>(())
//! ```

pub mod attributes;
pub mod buffer;
pub mod dataset;
pub mod digest;
pub mod features;
pub mod floats;
pub mod graph;
pub mod ids;
pub mod transform;
