//! Which views have data vectors of one space, and one file for both sides of links.

use super::Dataset;
use crate::data::features::Features;
use crate::data::graph::Graph;
use crate::data::ids::{Ids, Side, Sides};
use crate::error::{Error, Result, Subject, quote};

impl Dataset {
    /// The same data with the space of each view's data vectors: views of one space have
    /// the same columns, so that their data vectors can be compared.
    ///
    /// # Errors
    /// A number of spaces other than that of views, and views of one space whose data
    /// vectors have different lengths.
    pub fn with_spaces(mut self, spaces: &[usize]) -> Result<Dataset> {
        if spaces.len() != self.views.len() {
            let found = format!("{} spaces", spaces.len());
            let expected = format!("one for each of {} views", self.views.len());
            return Err(Error::data("views", found, expected));
        }
        for (view, &space) in self.views.iter_mut().zip(spaces) {
            view.space = space;
        }
        for (place, view) in self.views.iter().enumerate() {
            let mut others = self.views[..place].iter();
            let other = others.find(|other| other.space == view.space);
            if let (Some(a), Some(b)) = (&view.matrix, other.and_then(|it| it.matrix.as_ref()))
                && a.n_columns() != b.n_columns()
            {
                let (name, found) = (view.name.clone(), a.n_columns());
                let expected = format!("{}, as another view of the same space has", b.n_columns());
                let subject = Subject::Features { view: Some(name) };
                return Err(Error::data(subject, format!("{found} columns"), expected));
            }
        }
        Ok(self)
    }

    /// Links from sources to targets, and data vectors for both in one list: the nodes are
    /// those given, or those of the links.
    ///
    /// # Errors
    /// An id without a data vector, and an id that is both a source and a target: its data
    /// vector could be that of either.
    pub fn on_sides_alike(
        graph: Graph,
        nodes: Option<&Sides>,
        features: &Features,
    ) -> Result<Dataset> {
        let Some(linked) = graph.ids().sides() else {
            let expected = "links from sources to targets";
            return Err(Error::links("links between nodes of one kind", expected));
        };
        let sides = nodes.unwrap_or(linked).clone();
        let wrong = |found: String, expected: &str| {
            let subject = Subject::Features { view: None };
            Error::data(subject, found, expected)
        };
        let mut sources = (0..sides.source.len()).map(|row| sides.source.name(row));
        if let Some(id) = sources.find(|id| sides.target.row(id).is_some()) {
            let found = format!(
                "one list for both sides, where {} is a source and a target",
                quote(&id)
            );
            let expected = "a list for each side, or ids that differ from side to side";
            return Err(wrong(found, expected));
        }
        let of_side = |side: Side| -> Result<Option<Features>> {
            let ids = sides.of(side);
            let mut rows = Vec::with_capacity(ids.len());
            for id in (0..ids.len()).map(|row| ids.name(row)) {
                match features.ids().row(&id) {
                    Some(row) => rows.push(row),
                    None => {
                        let found = format!("no row for node {}", quote(&id));
                        return Err(wrong(found, "a data vector for each node"));
                    }
                }
            }
            let names = Ids::from(features.ids().select(&rows));
            Features::with_ids(names, features.matrix().select(&rows)).map(Some)
        };
        let features = [of_side(Side::Source)?, of_side(Side::Target)?];
        Dataset::on_sides(graph, Some(&sides), features)?.with_spaces(&[0, 0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::features::Matrix;
    use crate::data::graph::{Ends, Link, LinkRules};
    use crate::data::ids::Names;

    fn names(list: &[&str]) -> Ids {
        let mut names = Names::default();
        for name in list {
            names.insert(name);
        }
        Ids::from(names)
    }

    fn graph(ids: &[&str]) -> Graph {
        let link = |src, dst| Link {
            src,
            dst,
            weight: 1.0,
        };
        let rules = LinkRules {
            ends: Ends::Bipartite,
            ..LinkRules::default()
        };
        let all = names(ids);
        let row = |at: usize| all.row(ids[at]).unwrap();
        let links = vec![link(row(0), row(1)), link(row(2), row(3))];
        Graph::new(all.clone(), links, rules).unwrap()
    }

    #[test]
    fn one_list_of_data_vectors_serves_both_sides() {
        let matrix = Matrix::dense(5, 1, vec![1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        let all = Features::with_ids(names(&["x", "b", "a", "y", "more"]), matrix).unwrap();
        let data = Dataset::new(graph(&["a", "x", "b", "y"]), all.clone()).unwrap();
        let of_view = |at: usize| data.views()[at].matrix.clone().unwrap();
        assert_eq!(
            (of_view(0).row(0), of_view(0).row(1)),
            (vec![(0, 3.0)], vec![(0, 2.0)])
        );
        assert_eq!(
            (of_view(1).row(0), of_view(1).row(1)),
            (vec![(0, 1.0)], vec![(0, 4.0)])
        );
        assert_eq!([data.views()[0].space, data.views()[1].space], [0, 0]);
        let other = data.clone().with_spaces(&[0, 1]).unwrap();
        assert_ne!(data.digest(), other.digest());
        // Row numbers can be those of either side only once.
        let rows = Features::new(Matrix::dense(4, 1, vec![0.0; 4]).unwrap());
        assert!(Dataset::new(graph(&["0", "2", "1", "3"]), rows.clone()).is_ok());
        for (graph, features, words) in [
            (
                graph(&["0", "1", "1", "3"]),
                rows,
                "'1' is a source and a target",
            ),
            (graph(&["a", "x", "b", "z"]), all, "no row for node 'z'"),
        ] {
            let error = Dataset::new(graph, features).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn views_of_one_space_have_the_same_columns() {
        let ones = |ids: [&str; 2], n: usize| {
            let matrix = Matrix::dense(2, n, vec![1.0; 2 * n]).unwrap();
            Some(Features::with_ids(names(&ids), matrix).unwrap())
        };
        let of = |width: usize| {
            let both = [ones(["a", "b"], width), ones(["x", "y"], 1)];
            Dataset::on_sides(graph(&["a", "x", "b", "y"]), None, both).unwrap()
        };
        assert_eq!(of(2).views()[1].space, 1);
        assert!(of(1).with_spaces(&[0, 0]).is_ok());
        let error = of(2).with_spaces(&[0, 0]).unwrap_err().to_string();
        assert!(error.contains("another view of the same space"), "{error}");
        assert!(of(2).with_spaces(&[0]).is_err());
    }
}
