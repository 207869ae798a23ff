//! The data sets that `linkproof datasets` knows: where they are, and what
//! their files are to the byte.

use std::path::Path;

use linkproof::Error;

use crate::download::KnownFile;

/// A public data set.
#[derive(Debug)]
pub struct DataSet {
    /// As typed.
    pub name: &'static str,
    /// As written.
    pub title: &'static str,
    /// What it is, in a sentence.
    pub about: &'static str,
    /// Whom to cite.
    pub citation: &'static str,
    /// Nodes in it.
    pub nodes: usize,
    /// Links between them.
    pub links: usize,
    /// Entries of a data vector.
    pub features: usize,
    /// Classes of nodes.
    pub classes: usize,
    /// The folders in which others publish it, in the order in which they are
    /// asked. Branches move; the digests say whether the files did.
    pub addresses: &'static [&'static str],
    /// The published files: papers, then citations.
    pub raw: [KnownFile<'static>; 2],
    /// The files made of them.
    pub files: [KnownFile<'static>; 4],
}

/// All of them.
pub const DATA_SETS: [DataSet; 1] = [CORA];

const CORA: DataSet = DataSet {
    name: "cora",
    title: "Cora",
    about: "citations between machine-learning papers, with their words and one of 7 subjects",
    citation: "Prithviraj Sen, Galileo Namata, Mustafa Bilgic, Lise Getoor, Brian Gallagher and \
               Tina Eliassi-Rad, Collective Classification in Network Data, AI Magazine 29(3), 2008",
    nodes: 2708,
    links: 5278,
    features: 1433,
    classes: 7,
    addresses: &[
        "https://raw.githubusercontent.com/tkipf/pygcn/master/data/cora",
        "https://raw.githubusercontent.com/williamleif/graphsage-simple/master/cora",
    ],
    raw: [
        known(
            "cora.content",
            7_823_427,
            "b8ebed0fd45e53995abafd1b70cf6a9fcc8f86abc5826d69b97fe6ca46e9c8ee",
        ),
        known(
            "cora.cites",
            69_928,
            "ec1a372391b7f0f60a6aff0084e8abd8f19f0faa7e1f2441a41c492042d5945e",
        ),
    ],
    files: [
        known(
            "edges.csv",
            58_047,
            "696fce96c5095997c38b1f39cf3d3e7d02892b5851efdd248fd0d256acecc1a2",
        ),
        known(
            "features.mtx",
            537_221,
            "463bc082c8aca88d386e6ef47125f8e6c461a1fb2e641566d6d8d62f6ddea7a0",
        ),
        known(
            "labels.csv",
            61_516,
            "d6d4bb0aa689140630530d41b380accbdeb6b2f2f4b7832e54dbe585063ae228",
        ),
        known(
            "nodes.csv",
            31_095,
            "41f90a45d2d787e87a6c2b765d292c51620e34ffc808232291115d5c0711ba3e",
        ),
    ],
};

const fn known(name: &'static str, bytes: u64, sha256: &'static str) -> KnownFile<'static> {
    KnownFile {
        name,
        bytes,
        sha256,
    }
}

impl DataSet {
    /// Whether a folder holds the data set already; one that holds something
    /// else under the same names is an error.
    pub fn is_in(&self, folder: &Path) -> Result<bool, Error> {
        let there = |file: &KnownFile<'_>| folder.join(file.name).is_file();
        if !self.files.iter().all(there) {
            return Ok(false);
        }
        for file in &self.files {
            let path = folder.join(file.name);
            if let Some(found) = file.differs(&path)? {
                return Err(Error::Output {
                    path,
                    found: format!("holds {found}, but {} has {}", self.title, file.expected()),
                    expected: "choose another --out, or say --force to fetch again and replace \
                               the folder, if it holds nothing else"
                        .to_owned(),
                    remedy: None,
                });
            }
        }
        Ok(true)
    }

    /// What `README.md` in the folder says.
    pub fn readme(&self) -> String {
        let sources = self.addresses.iter().map(|it| format!("- <{it}>\n"));
        let sources: String = sources.collect();
        let digest = |folder: &'static str| {
            move |file: &KnownFile<'_>| format!("{}  {folder}{}\n", file.sha256, file.name)
        };
        let files = self.files.iter().map(digest(""));
        let digests: String = files.chain(self.raw.iter().map(digest("raw/"))).collect();
        format!(
            "# {}\n\n\
             {} nodes, {} links: {}. Please cite\n\n\
             > {}.\n\n\
             - `edges.csv`: links `src,dst,weight`, undirected, each pair once, weight 1\n\
             - `features.mtx`: a row of {} binary words for each node (MatrixMarket)\n\
             - `labels.csv`: the class of each node, one of {}\n\
             - `nodes.csv`: each node's id in the published files\n\
             - `raw/`: the published files, of which `linkproof datasets fetch {}` made the others\n\n\
             Nodes are numbered from 0 in the order of `raw/{}`. The published files are also at\n\n\
             {sources}\n\
             SHA-256:\n\n```text\n{digests}```\n",
            self.title,
            self.nodes,
            self.links,
            self.about,
            self.citation,
            self.features,
            self.classes,
            self.name,
            self.raw[0].name
        )
    }
}
