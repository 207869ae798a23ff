//! Inputs that are whole, to begin from.

use std::fs;
use std::io::Write;

use linkproof::data::graph::{Graph, LinkRules};
use linkproof::io;

use crate::targets::Workshop;

const CSV: &str = "src,dst,weight\na,b,1\nb,c,2.5\n\"c, d\",a,0\n";
const TEXT: &str = "# comment\n0 1\n1 2 0.5\n2 0\n";
const MTX: &str =
    "%%MatrixMarket matrix coordinate real symmetric\n% c\n3 3 3\n2 1 1\n3 1 2\n3 2 1e-3\n";
const DENSE_MTX: &str = "%%MatrixMarket matrix array real general\n2 2\n1\n0\n2\n0.5\n";
const SPARSE_MTX: &str = "%%MatrixMarket matrix coordinate pattern general\n3 2 2\n1 1\n3 2\n";
const FEATURES: &str = "node,x,y\na,1,0\nb,0.5,-2\nc,0,1e-5\n";
const NODES: &str = "node,view,row\na,x,0\nb,x,1\nc,y,0\n";
const LABELS: &str = "node,label\na,one\nb,two\nc,one\n";
const PAIRS: &str = "src,dst\na,b\nb,c\n";
const CITATIONS: &str = "p1\t1\t0\tA\np2\t0\t1\tB\np3\t1\t1\tA\n|p1\tp2\np2\tp3\n";
/// The seeds of a target.
pub fn of(name: &str, shop: &mut Workshop) -> Vec<Vec<u8>> {
    let texts = |all: &[&str]| all.iter().map(|text| text.as_bytes().to_vec()).collect();
    match name {
        "links-csv" => texts(&[CSV, "a,b\nb,c\n"]),
        "links-text" => texts(&[TEXT, "a\tb\t1\nb\tc\t2\n"]),
        "links-mtx" => texts(&[MTX, &MTX.replace("symmetric", "general")]),
        "features-csv" | "embeddings" => texts(&[FEATURES, "a,1\nb,2\n"]),
        "features-mtx" => texts(&[DENSE_MTX, SPARSE_MTX]),
        "nodes" | "model-nodes" => texts(&[NODES, "node\na\nb\nc\nd\n"]),
        "labels" => texts(&[LABELS]),
        "pairs" => texts(&[PAIRS, TEXT]),
        "citations" => texts(&[CITATIONS]),
        "page" => texts(&[
            "<script>alert(1)</script>",
            "a\"b'c&d<e>",
            "\\u003c/script>",
        ]),
        "links-gz" => vec![packed(CSV.as_bytes()), packed(&vec![b'\n'; 100_000])],
        "links-zst" => [CSV.as_bytes(), &vec![b'\n'; 100_000]]
            .map(|text| zstd::encode_all(text, 1).unwrap())
            .to_vec(),
        "links-parquet" => {
            let path = shop.path("seed.parquet");
            let links = [(0, 1, 1.0), (1, 2, 0.5), (2, 3, 2.0)];
            let graph = Graph::from_rows(4, &links).unwrap();
            io::write_links(&path, &graph).unwrap();
            let mut all = vec![fs::read(&path).unwrap()];
            let csv = shop.path("seed.csv");
            fs::write(&csv, CSV).unwrap();
            io::write_links(&path, &io::read_links(&csv, &LinkRules::default()).unwrap()).unwrap();
            all.push(fs::read(&path).unwrap());
            all
        }
        "features-parquet" => {
            let path = shop.path("seed.parquet");
            let format = io::EmbeddingFormat::Parquet;
            let ids = linkproof::data::ids::Ids::Rows(3);
            io::write_embeddings(&path, format, &ids, 3, 2, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
                .unwrap();
            vec![fs::read(&path).unwrap()]
        }
        "features-npy" => {
            let path = shop.path("seed.npy");
            io::write_npy(&path, 3, 2, &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
            let single = fs::read(&path).unwrap();
            io::write_npy(&path, 2, 2, &[1.0f64, 2.0, 3.0, 4.0]).unwrap();
            vec![single, fs::read(&path).unwrap()]
        }
        "model" => vec![fs::read(shop.model.join("model.safetensors")).unwrap(), {
            let stored = io::load(&shop.model).unwrap();
            io::to_bytes(&stored.model, &stored.record).unwrap()
        }],
        "model-json" => vec![fs::read(shop.model.join("fit.json")).unwrap()],
        "model-vectors" => vec![fs::read(shop.model.join("embeddings.npy")).unwrap()],
        _ => Vec::new(),
    }
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(bytes).unwrap();
    gz.finish().unwrap()
}
