//! What is fed, and what is expected of it.

use std::fs;
use std::path::{Path, PathBuf};

use linkproof::data::graph::{Duplicates, Graph, Link, LinkRules, SelfLinks};
use linkproof::data::ids::{Ids, Names};
use linkproof::io;
use linkproof::{Dataset, Error, Fit, Fitted, Params};
use linkproof_pictures::layout::layout;
use linkproof_pictures::report::Page;

/// Takes an input: what is wrong with what became of it.
type Run = fn(&mut Workshop, &[u8]) -> Result<(), String>;

/// Something that reads.
pub struct Target {
    pub name: &'static str,
    pub run: Run,
    /// How many inputs the tests try.
    #[cfg_attr(not(test), allow(dead_code))]
    pub few: usize,
}

macro_rules! targets {
    ($($name:literal $few:literal $run:expr;)*) => {
        &[$(Target { name: $name, run: $run, few: $few }),*]
    };
}

pub const TARGETS: &[Target] = targets! {
    "links-csv" 300 |shop, input| shop.links(input, "l.csv");
    "links-text" 300 |shop, input| shop.links(input, "l.txt");
    "links-mtx" 300 |shop, input| shop.links(input, "l.mtx");
    "links-parquet" 300 |shop, input| shop.links(input, "l.parquet");
    "links-gz" 200 |shop, input| shop.links(input, "l.csv.gz");
    "links-zst" 200 |shop, input| shop.links(input, "l.csv.zst");
    "features-csv" 300 |shop, input| shop.reads(input, "x.csv", |path| io::read_features(path));
    "features-mtx" 300 |shop, input| shop.reads(input, "x.mtx", |path| io::read_features(path));
    "features-npy" 300 |shop, input| shop.reads(input, "x.npy", |path| io::read_features(path));
    "features-parquet" 300 |shop, input| shop.reads(input, "x.parquet", |path| io::read_features(path));
    "embeddings" 200 |shop, input| shop.reads(input, "y.csv", |path| io::read_embeddings(path));
    "nodes" 200 |shop, input| shop.reads(input, "n.csv", |path| io::read_nodes(path));
    "labels" 200 |shop, input| shop.reads(input, "k.csv", |path| io::read_labels(path));
    "pairs" 200 |shop, input| shop.reads(input, "p.csv", |path| io::read_pairs(path));
    "citations" 200 |shop, input| shop.citations(input);
    "model" 100 |shop, input| shop.model(input);
    "model-json" 60 |shop, input| shop.part_of_model("fit.json", input);
    "model-nodes" 60 |shop, input| shop.part_of_model("nodes.csv", input);
    "model-vectors" 60 |shop, input| shop.part_of_model("embeddings.npy", input);
    "page" 12 |shop, input| shop.page(input);
};

/// A folder in memory, and what a target needs beside its input.
pub struct Workshop {
    folder: tempfile::TempDir,
    /// A model and the files of its folder.
    pub model: PathBuf,
    /// How many marks the page has where every name is harmless.
    marks: Option<usize>,
}

impl Workshop {
    pub fn new() -> Workshop {
        let memory = Path::new("/dev/shm");
        let folder = match memory.is_dir() {
            true => tempfile::tempdir_in(memory),
            false => tempfile::tempdir(),
        };
        let folder = folder.unwrap();
        let model = folder.path().join("model");
        io::save(&small_model(["a", "b", "c", "d"]), &model).unwrap();
        Workshop {
            folder,
            model,
            marks: None,
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn put(&self, input: &[u8], name: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, input).unwrap();
        path
    }

    fn reads<T>(
        &mut self,
        input: &[u8],
        name: &str,
        read: impl Fn(&Path) -> Result<T, Error>,
    ) -> Result<(), String> {
        let path = self.put(input, name);
        told(read(&path), &[name])
    }

    fn links(&mut self, input: &[u8], name: &str) -> Result<(), String> {
        let path = self.put(input, name);
        told(
            io::read_links(&path, &LinkRules::default()),
            &[name, "links"],
        )?;
        let kind = LinkRules {
            duplicates: Duplicates::Sum,
            self_links: SelfLinks::Drop,
            ..LinkRules::default()
        };
        told(io::read_links(&path, &kind), &[name, "links"])
    }

    fn citations(&mut self, input: &[u8]) -> Result<(), String> {
        let middle = input
            .iter()
            .position(|byte| *byte == b'|')
            .unwrap_or(input.len());
        let (content, cites) = input.split_at(middle);
        let content = self.put(content, "content");
        let cites = self.put(cites, "cites");
        told(
            io::read_citations(content, cites),
            &["content", "cites", "links"],
        )
    }

    fn model(&mut self, input: &[u8]) -> Result<(), String> {
        if let Ok(stored) = io::from_bytes(input) {
            // What was taken can be used.
            let model = &stored.model;
            let _ = (model.n_nodes(), model.effective_rank());
        }
        Ok(())
    }

    fn part_of_model(&mut self, name: &str, input: &[u8]) -> Result<(), String> {
        let path = self.model.join(name);
        let whole = fs::read(&path).unwrap();
        fs::write(&path, input).unwrap();
        let outcome = io::load(&self.model).map(|stored| stored.model.effective_rank());
        fs::write(&path, whole).unwrap();
        told(outcome, &["model/"])
    }

    /// Names on the page are text, whatever they hold.
    fn page(&mut self, input: &[u8]) -> Result<(), String> {
        let marks = match self.marks {
            Some(marks) => marks,
            None => count_marks(["a", "b", "c", "d"], "title"),
        };
        self.marks = Some(marks);
        let text = String::from_utf8_lossy(input);
        let pieces: Vec<char> = text.chars().filter(|c| !c.is_control()).collect();
        let piece = |place: usize| -> String {
            let (start, end) = (pieces.len() * place / 5, pieces.len() * (place + 1) / 5);
            format!(
                "{place}{}",
                pieces[start..end].iter().take(40).collect::<String>()
            )
        };
        let names = [piece(0), piece(1), piece(2), piece(3)];
        let found = count_marks(names.each_ref().map(String::as_str), &piece(4));
        match found == marks {
            true => Ok(()),
            false => Err(format!("{found} marks in place of {marks}")),
        }
    }
}

/// An error that a user is told names the file.
fn told<T>(outcome: Result<T, Error>, names: &[&str]) -> Result<(), String> {
    let Err(error) = outcome else {
        return Ok(());
    };
    let text = error.to_string();
    match names.iter().any(|name| text.contains(name)) {
        true => Ok(()),
        false => Err(format!("an error that does not name the file: {text}")),
    }
}

fn small_model(names: [&str; 4]) -> Fitted {
    let mut ids = Names::default();
    ids.insert_all(&names);
    let link = |src, dst| Link {
        src,
        dst,
        weight: 1.0,
    };
    let links = vec![link(0, 1), link(1, 2), link(2, 3)];
    let graph = Graph::new(Ids::from(ids), links, LinkRules::default()).unwrap();
    let params = Params {
        dim: 2,
        steps: Some(1),
        validation: Some(0.0),
        ..Params::default()
    };
    let data = Dataset::from_links(graph).unwrap();
    Fit::new(&params.check().unwrap()).run(&data).unwrap()
}

/// The marks that begin an element, of the page of a model whose nodes have names.
fn count_marks(names: [&str; 4], title: &str) -> usize {
    let model = small_model(names);
    let found = layout(model.recommended(), 4, 2, None, 0, &mut |_, _| true).unwrap();
    let record = serde_json::Map::new();
    let page = Page {
        title,
        model: &model,
        links: model.links(),
        record: &record,
        command_line: Some(names.join(" ")),
        classes: None,
        layout: &found,
        goes_on: &|| true,
    };
    page.html().unwrap().matches('<').count()
}
