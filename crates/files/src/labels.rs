//! Labels of nodes, for measuring embeddings.

use std::path::Path;

use super::columns;
use super::features::repeated_id;
use super::source::{Source, Sources};
use super::text::{BLOCK, Blocks, number};
use linkproof_method::data::ids::{Ids, Names};
use linkproof_method::error::{Error, Result, quote};

/// The labels of some nodes.
#[derive(Debug, Clone, Default)]
pub struct Labels {
    nodes: Names,
    codes: Vec<Option<u32>>,
    classes: Names,
    titles: Option<Vec<String>>,
}

impl Labels {
    /// The nodes, in the order of the file.
    pub fn nodes(&self) -> &Names {
        &self.nodes
    }

    /// The code of each node, in the order of the file; `None` is unlabelled.
    pub fn codes(&self) -> &[Option<u32>] {
        &self.codes
    }

    /// The label texts: the code `c` stands for `classes().name(c)`. Codes
    /// follow first appearance.
    pub fn classes(&self) -> &Names {
        &self.classes
    }

    /// What each class is called, where the labels are codes for that.
    pub fn titles(&self) -> Option<&[String]> {
        self.titles.as_deref()
    }

    /// The label text of a node, if it has one.
    pub fn get(&self, node: &str) -> Option<&str> {
        let code = self.codes[self.nodes.row(node)? as usize]?;
        Some(self.classes.name(code as usize))
    }

    /// The codes of other ids, in their order; nodes that are not listed are
    /// unlabelled.
    pub fn of(&self, ids: &Ids) -> Vec<Option<u32>> {
        (0..ids.len())
            .map(|row| self.codes[self.nodes.row(&ids.name(row))? as usize])
            .collect()
    }
}

/// Reads labels: CSV `node,label[,...]` with or without header. An empty or a
/// negative label means unlabelled. A column `label_name` says what the label is called.
pub fn read_labels(path: impl AsRef<Path>) -> Result<Labels> {
    read_labels_of(Source::open(path.as_ref())?)
}

impl Sources {
    /// As [`read_labels`].
    pub fn read_labels(&self, path: impl AsRef<Path>) -> Result<Labels> {
        read_labels_of(self.open(path.as_ref())?)
    }
}

fn read_labels_of(source: Source) -> Result<Labels> {
    let path = &source.path().to_owned();
    let mut blocks = Blocks::open(source, BLOCK)?;
    let nothing = || Error::input(path, None, "no labels", "at least one line: node,label");
    let (first_line, first) = blocks.first_record()?.ok_or_else(nothing)?;
    if first.len() < 2 {
        return Err(Error::input(
            path,
            first_line,
            columns(first.len()),
            "at least 2: node and label",
        ));
    }
    let place = |known: fn(&str) -> bool| {
        first
            .iter()
            .position(|field| known(&field.to_ascii_lowercase()))
    };
    let header = place(is_node_name).zip(place(is_label_name));
    let (node, label) = header.unwrap_or((0, 1));
    let title = header.and_then(|_| place(|name| name == "label_name"));
    let mut labels = Labels {
        titles: title.map(|_| Vec::new()),
        ..Labels::default()
    };
    blocks.visit(|line, fields| {
        let wrong = |found: String, expected: String| Error::input(path, line, found, expected);
        if fields.len() != first.len() {
            let expected = format!("{}, as on the first line", first.len());
            return Err(wrong(columns(fields.len()), expected));
        }
        if header.is_some() && line == first_line {
            return Ok(true);
        }
        let (id, text) = (&fields[node], &fields[label]);
        if id.is_empty() {
            return Err(wrong("an empty node id".to_owned(), "an id".to_owned()));
        }
        let n_before = labels.nodes.len();
        labels.nodes.insert(id);
        if labels.nodes.len() == n_before {
            return Err(repeated_id(path, line, id));
        }
        let unlabelled = text.is_empty() || number(text).is_some_and(|x| x < 0.0);
        let code = (!unlabelled).then(|| labels.classes.insert(text));
        labels.codes.push(code);
        if let (Some(code), Some(column), Some(titles)) = (code, title, &mut labels.titles) {
            titles.resize(labels.classes.len(), String::new());
            let (known, here) = (&mut titles[code as usize], &fields[column]);
            if known.is_empty() {
                *known = here.to_string();
            } else if !here.is_empty() && here != known {
                let found = format!("label {} called {}", quote(text), quote(here));
                return Err(wrong(found, format!("{}, as above", quote(known))));
            }
        }
        Ok(true)
    })?;
    if labels.nodes.is_empty() {
        return Err(nothing());
    }
    Ok(labels)
}

fn is_node_name(name: &str) -> bool {
    matches!(
        name,
        "node" | "id" | "node_id" | "nodeid" | "vertex" | "name"
    )
}

fn is_label_name(name: &str) -> bool {
    matches!(
        name,
        "label" | "labels" | "class" | "cluster" | "community" | "y"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(text: &str) -> Result<Labels> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("labels.csv");
        std::fs::write(&path, text).unwrap();
        read_labels(&path)
    }

    #[test]
    fn labels_with_and_without_header() {
        let rows = "2,red\n0,blue\n1,-1\n3,\n4,red\n";
        for header in ["", "node,label\n", "ID,Class\n"] {
            let labels = labels(&format!("{header}{rows}")).unwrap();
            let codes = labels.of(&Ids::Rows(6));
            assert_eq!(codes, [Some(1), None, Some(0), None, Some(0), None]);
            assert_eq!(labels.classes().name(1), "blue");
            assert_eq!(labels.get("4"), Some("red"));
            assert_eq!(labels.get("9"), None);
            assert_eq!(labels.nodes().name(0), "2");
            assert_eq!(labels.codes().len(), 5);
        }
        let by_name = labels("y,more,node\n7,x,a\n").unwrap();
        assert_eq!(by_name.get("a"), Some("7"));
    }

    #[test]
    fn labels_may_say_what_they_are_called() {
        let found =
            labels("node,label_name,label\na,Theory,3\nb,,1\nc,Agents,1\nd,?,-1\n").unwrap();
        assert_eq!(found.titles().unwrap(), ["Theory", "Agents"]);
        assert_eq!(found.get("c"), Some("1"));
        assert_eq!(labels("node,label\na,3\n").unwrap().titles(), None);
        // Without a header nothing is called anything.
        assert_eq!(labels("a,label,label_name\n").unwrap().titles(), None);
    }

    #[test]
    fn wrong_labels_name_their_line() {
        for (text, line, what) in [
            ("", None, "no labels"),
            ("node,label\n", None, "no labels"),
            ("a\n", Some(1), "1 column"),
            ("a,1\nb\n", Some(2), "1 column"),
            ("a,1\n\na,1\n", Some(3), "'a' again"),
            ("a,1\n,1\n", Some(2), "empty node id"),
            (
                "node,label,label_name\na,1,X\nb,1,\nc,1,Y\n",
                Some(4),
                "label '1' called 'Y'",
            ),
        ] {
            let Error::Input {
                line: at, found, ..
            } = labels(text).unwrap_err()
            else {
                panic!("{text}");
            };
            assert_eq!(at, line, "{text}");
            assert!(found.contains(what), "{found}");
        }
    }
}
