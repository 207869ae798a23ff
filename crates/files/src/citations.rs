//! Citation graphs as LINQS publishes them, such as Cora: papers with their
//! words and class in a `.content` file, who cites whom in a `.cites` file.

use std::io::Write;
use std::path::Path;

use super::columns;
use super::features::repeated_id;
use super::output::write_file;
use super::source::Source;
use super::table::{Field, write_table};
use super::text::{BLOCK, Blocks};
use super::write::write_links;
use linkproof_method::data::graph::{Duplicates, Graph, Link, LinkRules};
use linkproof_method::data::ids::{Ids, Names};
use linkproof_method::error::{Error, Result, quote};

/// Papers in the order of their file, which are the nodes, and the citations
/// between them, which are the links: undirected, each pair once, weight 1.
#[derive(Debug, Clone)]
pub struct Citations {
    papers: Names,
    n_words: usize,
    /// The words of each paper, ascending.
    words: Vec<Vec<u32>>,
    /// The names of the classes in alphabetical order.
    classes: Vec<String>,
    labels: Vec<u32>,
    graph: Graph,
}

impl Citations {
    /// The links between papers, by their rows.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Writes `edges.csv`, `features.mtx`, `labels.csv` and `nodes.csv` into a
    /// folder; `title` names the data in a comment.
    pub fn write(&self, folder: impl AsRef<Path>, title: &str) -> Result<()> {
        let folder = folder.as_ref();
        write_links(folder.join("edges.csv"), &self.graph)?;
        self.write_words(&folder.join("features.mtx"), title)?;
        let header = ["node", "label", "label_name"];
        write_table(folder.join("labels.csv"), &header, |rows| {
            for (node, &label) in self.labels.iter().enumerate() {
                rows.row(&[
                    Field::Whole(node as u64),
                    Field::Whole(label.into()),
                    Field::Text(&self.classes[label as usize]),
                ])?;
            }
            Ok(())
        })?;
        write_table(folder.join("nodes.csv"), &["node", "paper_id"], |rows| {
            for node in 0..self.papers.len() {
                let paper = Field::Text(self.papers.name(node));
                rows.row(&[Field::Whole(node as u64), paper])?;
            }
            Ok(())
        })
    }

    fn write_words(&self, path: &Path, title: &str) -> Result<()> {
        let (n, p) = (self.words.len(), self.n_words);
        let n_stored: usize = self.words.iter().map(Vec::len).sum();
        write_file(path, |file| {
            writeln!(file, "%%MatrixMarket matrix coordinate integer general")?;
            writeln!(file, "%{title}, {n} papers x {p} binary words")?;
            writeln!(file, "{n} {p} {n_stored}")?;
            for (row, words) in self.words.iter().enumerate() {
                for word in words {
                    writeln!(file, "{} {} 1", row + 1, word + 1)?;
                }
            }
            Ok(())
        })
    }
}

/// Reads a citation graph. A line of `content` is a paper's id, 0 or 1 for each
/// word, and its class; a line of `cites` the id of a cited and of a citing
/// paper. A pair that is listed again, or in both directions, is one link.
pub fn read_citations(content: impl AsRef<Path>, cites: impl AsRef<Path>) -> Result<Citations> {
    let (content, cites) = (content.as_ref(), cites.as_ref());
    let mut papers = Names::default();
    let mut names = Vec::new();
    let mut words = Vec::new();
    let mut n_fields = None;
    let shape = || "at least 3: id, words, class".to_owned();
    Blocks::plain(Source::open(content)?, BLOCK)?.visit(|line, fields| {
        let wrong = |found: String, expected: String| Error::input(content, line, found, expected);
        let expected = *n_fields.get_or_insert(fields.len());
        if fields.len() != expected {
            let expected = format!("{expected}, as on the first line");
            return Err(wrong(columns(fields.len()), expected));
        }
        let [paper, entries @ .., class] = fields else {
            return Err(wrong(columns(fields.len()), shape()));
        };
        if entries.is_empty() {
            return Err(wrong(columns(fields.len()), shape()));
        }
        let row = papers.len();
        if papers.insert(paper) as usize != row {
            return Err(repeated_id(content, line, paper));
        }
        let mut present = Vec::new();
        for (word, entry) in (0..).zip(entries) {
            match entry.as_ref() {
                "0" => {}
                "1" => present.push(word),
                other => {
                    let found = format!(
                        "{} for word {} of paper {}",
                        quote(other),
                        word + 1,
                        quote(paper)
                    );
                    return Err(wrong(found, "0 or 1".to_owned()));
                }
            }
        }
        words.push(present);
        names.push(class.to_string());
        Ok(true)
    })?;
    let Some(n_fields) = n_fields else {
        let expected = "at least one line: id, words, class";
        return Err(Error::input(content, None, "no papers", expected));
    };
    let mut classes = names.clone();
    classes.sort();
    classes.dedup();
    let place = |name: &String| classes.partition_point(|class| class < name) as u32;
    Ok(Citations {
        labels: names.iter().map(place).collect(),
        graph: read_cites(cites, content, &papers)?,
        n_words: n_fields - 2,
        papers,
        words,
        classes,
    })
}

fn read_cites(path: &Path, content: &Path, papers: &Names) -> Result<Graph> {
    let mut links = Vec::new();
    Blocks::plain(Source::open(path)?, BLOCK)?.visit(|line, fields| {
        let wrong = |found: String, expected: &str| Error::input(path, line, found, expected);
        let [cited, citing] = fields else {
            return Err(wrong(columns(fields.len()), "2: cited paper, citing paper"));
        };
        let row = |paper: &str| {
            papers.row(paper).ok_or_else(|| {
                let expected = format!("a paper of {}", content.display());
                wrong(format!("paper {}", quote(paper)), &expected)
            })
        };
        let (src, dst) = (row(cited)?, row(citing)?);
        if src == dst {
            let found = format!("paper {}, which cites itself", quote(cited));
            return Err(wrong(found, "two papers"));
        }
        let weight = 1.0;
        links.push(Link { src, dst, weight });
        Ok(true)
    })?;
    let rules = LinkRules {
        duplicates: Duplicates::First,
        ..LinkRules::default()
    };
    Graph::new(Ids::Rows(papers.len()), links, rules)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTENT: &str = "31\t0\t1\t1\tTheory\n7\t1\t0\t0\tAgents\n205\t0\t0\t0\tTheory\n";

    fn read(content: &str, cites: &str) -> Result<Citations> {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("x.content"), content).unwrap();
        std::fs::write(path("x.cites"), cites).unwrap();
        read_citations(path("x.content"), path("x.cites"))
    }

    #[test]
    fn repeated_and_reciprocal_citations_are_one_link() {
        let cites = "205\t31\n7\t31\n31\t7\n7\t31\n31\t205\n";
        let folder = tempfile::tempdir().unwrap();
        let citations = read(CONTENT, cites).unwrap();
        assert_eq!(citations.graph().n_links(), 2);
        citations.write(folder.path(), "Small").unwrap();
        for (name, expected) in [
            ("edges.csv", "src,dst,weight\n0,1,1\n0,2,1\n"),
            (
                "features.mtx",
                "%%MatrixMarket matrix coordinate integer general\n\
                 %Small, 3 papers x 3 binary words\n3 3 3\n1 2 1\n1 3 1\n2 1 1\n",
            ),
            (
                "labels.csv",
                "node,label,label_name\n0,1,Theory\n1,0,Agents\n2,1,Theory\n",
            ),
            ("nodes.csv", "node,paper_id\n0,31\n1,7\n2,205\n"),
        ] {
            let text = std::fs::read_to_string(folder.path().join(name)).unwrap();
            assert_eq!(text, expected, "{name}");
        }
        let x = crate::read_features(folder.path().join("features.mtx")).unwrap();
        assert_eq!((x.matrix().n_rows(), x.matrix().n_columns()), (3, 3));
    }

    #[test]
    fn line_ends_of_windows_read_the_same() {
        let citations = read(&CONTENT.replace('\n', "\r\n"), "7\t31\r\n").unwrap();
        assert_eq!(citations.classes, ["Agents", "Theory"]);
        assert_eq!(citations.graph().n_links(), 1);
    }

    #[test]
    fn wrong_lines_are_named() {
        for (content, cites, file, line, what) in [
            ("", "", "x.content", None, "no papers"),
            ("1 A\n", "", "x.content", Some(1), "2 columns"),
            ("1\n", "", "x.content", Some(1), "1 column"),
            ("1 0 A\n2 0 1 A\n", "", "x.content", Some(2), "4 columns"),
            ("1 0 A\n\n1 1 A\n", "", "x.content", Some(3), "'1' again"),
            ("1 0 A\n2 2 A\n", "", "x.content", Some(2), "'2' for word 1"),
            (CONTENT, "7 31\n7\n", "x.cites", Some(2), "1 column"),
            (CONTENT, "7 31\n7 32\n", "x.cites", Some(2), "paper '32'"),
            (CONTENT, "7 7\n", "x.cites", Some(1), "cites itself"),
        ] {
            let Error::Input {
                path,
                line: at,
                found,
                ..
            } = read(content, cites).unwrap_err()
            else {
                panic!("{content}");
            };
            assert!(path.ends_with(file), "{content}");
            assert_eq!(at, line, "{content}");
            assert!(found.contains(what), "{found}");
        }
    }
}
