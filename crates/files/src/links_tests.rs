use std::path::PathBuf;

use proptest::prelude::*;

use super::*;
use crate::{EmbeddingFormat, read_embeddings, write_embeddings, write_links};
use linkproof_method::data::graph::{Duplicates, Link, SelfLinks};
use linkproof_method::data::ids::{Ids, Names};
use linkproof_method::data::transform::check_signs;
use linkproof_method::params::WeightTransform;

struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Files {
        Files(tempfile::tempdir().unwrap())
    }

    fn put(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }
}

fn read(name: &str, content: &str) -> Result<Graph> {
    let files = Files::new();
    read_links(files.put(name, content), &LinkRules::default())
}

type Listing = Vec<(String, String, f64)>;

fn listing(graph: &Graph) -> Listing {
    let name = |row: u32| graph.ids().name(row as usize).into_owned();
    graph
        .links()
        .map(|link| (name(link.src), name(link.dst), link.weight))
        .collect()
}

fn links(expected: &[(&str, &str, f64)]) -> Listing {
    let own = |&(a, b, w): &(&str, &str, f64)| (a.to_owned(), b.to_owned(), w);
    expected.iter().map(own).collect()
}

/// The error, its line checked, as text.
fn error(name: &str, content: &str, line: Option<u64>) -> String {
    let error = read(name, content).unwrap_err();
    let Error::Input {
        line: found_line, ..
    } = &error
    else {
        panic!("{error}");
    };
    assert_eq!(*found_line, line, "{error}");
    assert!(error.to_string().contains(name), "{error}");
    error.to_string()
}

#[test]
fn headers_are_told_from_links() {
    let expected = links(&[("a", "b", 2.0), ("b", "c", 0.5)]);
    for (name, text) in [
        ("x.csv", "a,b,2\nb,c,.5\n"),
        ("x.csv", "src,dst,weight\na,b,2\nb,c,0.5\n"),
        ("x.csv", "W,Target,Source\n2,b,a\n0.5,c,b\n"),
        ("x.csv", "left,right,strength\na,b,2\nb,c,0.5\n"),
        ("x.csv", "\u{feff}a, b ,2\r\n\r\n\"b\",c, 5e-1"),
        ("x.tsv", "i\tj\tvalue\na\tb\t2.0\nb\tc\t0.5\n"),
        ("x.txt", "# made by hand\n% really\na  b 2\nb\t c 0.5\n"),
        ("x.edges", "#\na\tb\t2\nb\tc\t0.5\n"),
        ("x", "from to count\na b 2\nb c 0.5\n"),
    ] {
        assert_eq!(listing(&read(name, text).unwrap()), expected, "{text}");
    }
    let plain = read("x.csv", "a,b\nb,c\n").unwrap();
    assert_eq!(listing(&plain), links(&[("a", "b", 1.0), ("b", "c", 1.0)]));
    let named = read("x.csv", "Source,Target\n7,8\n").unwrap();
    assert_eq!(listing(&named), links(&[("7", "8", 1.0)]));
}

#[test]
fn a_first_line_that_names_no_nodes_is_a_header() {
    let numbers = links(&[("7", "8", 1.0), ("8", "9", 1.0)]);
    for (name, text) in [
        ("x.csv", "user,item\n7,8\n8,9\n"),
        ("x.tsv", "\"the user\"\tthe item\n7\t8\n8\t9\n"),
        ("x.txt", "# seen\nwho whom\n7 8\n8 9\n"),
    ] {
        for size in [8, BLOCK] {
            let files = Files::new();
            let path = files.put(name, text);
            let listed = read_in_blocks(
                Source::open(&path).unwrap(),
                &LinkRules::default(),
                &[],
                size,
            )
            .unwrap();
            let graph = listed.graph;
            assert_eq!(listing(&graph), numbers, "{text}");
            assert_eq!(graph.n_nodes(), 3);
            assert_eq!((graph.counts().headers, graph.counts().listed), (1, 2));
        }
    }
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, b"user,item\n7,8\n8,9\n").unwrap();
    let files = Files::new();
    let path = files.put("x.csv.gz", packed.finish().unwrap());
    let graph = read_links(path, &LinkRules::default()).unwrap();
    assert_eq!(listing(&graph), numbers);
    // One column of numbers is enough, and codes that all have digits.
    let mixed = read("x.csv", "user,item\n7,lamp\n8,lamp\n").unwrap();
    assert_eq!(mixed.n_links(), 2);
    let codes = read("x.csv", "user,item\nu1,i1\nu2,i1\nu2,i2\n").unwrap();
    assert_eq!((codes.n_links(), codes.n_nodes()), (3, 4));
}

#[test]
fn a_first_line_that_may_be_a_link_is_one() {
    for text in [
        // Names like those below, whether they come again or not.
        "alice,bob\ncarol,dave\nerin,frank\n",
        "alice,bob\nbob,carol\n",
        // A node of another kind among numbers.
        "root,1\n1,2\n2,3\n",
        "root,leaf\nroot,1\n1,2\n",
        // Codes, one of which has no digit; and too few to say.
        "ann,bob\nu1,u2\nu3,eve\nu4,u5\n",
        "ann,bob\nu1,u2\n",
        // Nothing below it.
        "user,item\n",
    ] {
        let graph = read("x.csv", text).unwrap();
        assert_eq!(graph.n_links(), text.lines().count(), "{text}");
        assert_eq!(graph.counts().headers, 0);
    }
    // A weight that is a number makes it a link.
    let graph = read("x.csv", "user,item,1\n7,8,1\n").unwrap();
    assert_eq!((graph.n_links(), graph.counts().headers), (2, 0));
}

#[test]
fn matrices_are_links_between_row_numbers() {
    let text = "%%MatrixMarket matrix coordinate integer general\n5 5 3\n2 1 3\n1 2 3\n3 2 1\n";
    let graph = read("x.mtx", text).unwrap();
    assert_eq!(graph.n_nodes(), 5);
    assert_eq!(listing(&graph), links(&[("0", "1", 3.0), ("1", "2", 1.0)]));
    let pattern = "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 1\n3 1\n";
    let graph = read("x.mtx", pattern).unwrap();
    assert_eq!(listing(&graph), links(&[("0", "2", 1.0)]));
    let found = error("x.mtx", &text.replace("1 2 3", "1 2 4"), Some(4));
    assert!(
        found.contains("on line 3") && found.contains("duplicates"),
        "{found}"
    );
    for (from, to, line, what) in [
        ("3 2 1", "3 3 1", Some(5), "itself"),
        ("3 2 1", "3 2 nan", Some(5), "'nan'"),
        ("5 5 3", "5 6 3", Some(2), "square"),
        ("2 1 3\n1 2 3\n3 2 1\n", "", Some(2), "promises 3"),
    ] {
        let found = error("x.mtx", &text.replace(from, to), line);
        assert!(found.contains(what), "{found}");
    }
    let none = "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 0\n";
    assert!(error("x.mtx", none, None).contains("no links"));
    let array = "%%MatrixMarket matrix array real general\n1 1\n1\n";
    assert!(error("x.mtx", array, Some(1)).contains("array"));
}

#[test]
fn wrong_links_name_their_line() {
    for (text, line, what) in [
        ("", None, "no links"),
        ("\n \n", None, "no links"),
        ("src,dst,weight\n", None, "no links"),
        ("a,b,0\nb,c,0.0\n", None, "a graph with no links"),
        ("a\n", Some(1), "1 column"),
        ("a,b,1,2\n", Some(1), "4 columns"),
        ("a,b,1\n\nc,d\n", Some(3), "2 columns"),
        ("a,b\nc,d,1\n", Some(2), "3 columns"),
        ("src,dst,weight\na,b,1\nc,d,x\n", Some(3), "weight 'x'"),
        ("a,b,nan\n", Some(1), "weight 'nan'"),
        ("a,b,1\nb,c,inf\n", Some(2), "weight 'inf'"),
        ("a,b,1\nb,c,1e999\n", Some(2), "weight '1e999'"),
        ("a,b,1\nb,c,-inf\n", Some(2), "weight '-inf'"),
        ("a,b,\n", Some(1), "weight ''"),
        ("a,b,1\n,c,1\n", Some(2), "an empty node id"),
        ("a,b,1\nc,\"\",1\n", Some(2), "an empty node id"),
        ("a,b\nb,b\n", Some(2), "a link from 'b' to itself"),
        ("id,src,dst\n1,2,3\n", Some(1), "header"),
        ("a,b,1\nc,d,2\nb,a,3\n", Some(3), "after weight 1 on line 1"),
        ("a,b\nc,d\na,b\n", Some(3), "after weight 1 on line 1"),
        ("a,b\nb,a\nc,d\na,b\n", Some(4), "after weight 1 on line 1"),
        ("a,b,0\na,b,1\na,b,1\n", Some(3), "after weight 1 on line 2"),
    ] {
        let found = error("x.csv", text, line);
        assert!(found.contains(what), "{text}: {found}");
    }
    let found = error("x.csv", "a,b,1\nb,a,2\n", Some(2));
    assert!(found.contains("duplicates = sum, max or first"), "{found}");
    let files = Files::new();
    let path = files.put("x.csv", b"a,b\nc,\xe9\n");
    let found = read_links(path, &LinkRules::default()).unwrap_err();
    assert!(found.to_string().contains("line 2"), "{found}");
}

#[test]
fn negative_weights_are_read_from_every_format() {
    let files = Files::new();
    let text = "a,b,-0.5\nb,c,0.25\n";
    let mtx = "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 -0.5\n3 2 0.25\n";
    for (name, content) in [
        ("x.csv", text.to_owned()),
        ("x.tsv", text.replace(',', "\t")),
        ("x.mtx", mtx.to_owned()),
    ] {
        let path = files.put(name, content);
        let graph = read_links(path, &LinkRules::default()).unwrap();
        assert_eq!(graph.weights(), [-0.5, 0.25], "{name}");
        assert!(graph.is_signed());
        let path = files.0.path().join("y.parquet");
        write_links(&path, &graph).unwrap();
        let again = read_links(path, &LinkRules::default()).unwrap();
        assert_eq!(again.weights(), graph.weights(), "{name}");
    }
    // Two signs that add up to nothing are no link.
    let path = files.put("sum.csv", "a,b,1\nb,a,-1\nb,c,-2\n");
    let rules = LinkRules {
        duplicates: Duplicates::Sum,
        ..LinkRules::default()
    };
    let graph = read_links(path, &rules).unwrap();
    assert_eq!((graph.n_links(), graph.counts().zero), (1, 1));
}

#[test]
fn rules_are_followed() {
    let files = Files::new();
    let path = files.put("x.csv", "a,b,1\nb,a,2\nc,c,1\na,c,0\n");
    let mut options = LinkRules {
        self_links: SelfLinks::Drop,
        ..LinkRules::default()
    };
    for (rule, weight) in [
        (Duplicates::Sum, 3.0),
        (Duplicates::Max, 2.0),
        (Duplicates::First, 1.0),
    ] {
        options.duplicates = rule;
        let graph = read_links(&path, &options).unwrap();
        assert_eq!(listing(&graph), links(&[("a", "b", weight)]));
        let counts = graph.counts();
        assert_eq!((counts.zero, counts.self_links, counts.merged), (1, 1, 1));
    }
}

#[test]
fn errors_that_are_found_later_name_the_line() {
    use linkproof_method::Dataset;
    let files = Files::new();
    let line = |error: Error| {
        let text = error.to_string();
        let (_, rest) = text.split_once(", line ").unwrap_or(("", ""));
        rest.split(':').next().unwrap_or_default().to_owned()
    };
    let known = |ids: &[&str]| {
        let mut names = Names::default();
        ids.iter().for_each(|id| _ = names.insert(id));
        Ids::from(names)
    };
    for (name, text, ids, expected) in [
        (
            "x.csv",
            "src,dst\n\"a\nb\",c\nd,c\n\ne,d\n",
            &["a\nb", "c", "d"][..],
            "6",
        ),
        (
            "x.csv",
            "src,dst\n\"a\nb\",c\nd,e\nd,c\n",
            &["c", "d", "e"],
            "2",
        ),
        ("x.csv", "who,whom\n7,8\n8,9\n", &["7", "8"], "3"),
        ("x.txt", "# one\n7 8\n9 8\n", &["7", "8"], "3"),
    ] {
        let graph = read_links(files.put(name, text), &LinkRules::default()).unwrap();
        let error = Dataset::with_nodes(graph, known(ids)).unwrap_err();
        assert_eq!(line(error), expected, "{text}");
    }
    let text = "%%MatrixMarket matrix coordinate pattern general\n9 9 2\n1 2\n3 9\n";
    let graph = read_links(files.put("x.mtx", text), &LinkRules::default()).unwrap();
    let error = Dataset::with_nodes(graph, Ids::Rows(8)).unwrap_err();
    assert_eq!(line(error), "4");
    // Rows in another order, of two kinds, and of a directed graph.
    for ends in [Ends::Alike, Ends::Bipartite, Ends::Directed] {
        let rules = LinkRules {
            ends,
            ..LinkRules::default()
        };
        let graph = read_links(files.put("x.csv", "c,d,1\nb,a,2\na,c,-3\n"), &rules).unwrap();
        let data = match ends {
            Ends::Bipartite => Dataset::from_links(graph),
            _ => Dataset::with_nodes(graph, known(&["a", "b", "c", "d"])),
        };
        let data = data.unwrap();
        let error = check_signs(&data, WeightTransform::AsIs).unwrap_err();
        assert_eq!(line(error), "3", "{ends}");
    }
}

#[cfg(unix)]
#[test]
fn pipes_are_read_once() {
    use std::io::Write;
    let files = Files::new();
    let path = files.0.path().join("pipe.csv");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    let write = |text: &'static str| {
        let path = path.clone();
        std::thread::spawn(move || {
            // Opened once: whoever opens the pipe again waits for ever.
            let mut pipe = std::fs::File::options().write(true).open(path).unwrap();
            pipe.write_all(text.as_bytes()).unwrap();
        })
    };
    let sources = Sources::default();
    let read = || sources.read_links(&path, &LinkRules::default(), &["s".to_owned()]);
    let text = "src,dst,weight,s\na,b,1,2\nb,c,1,3\n";
    let writer = write(text);
    let found = read().unwrap();
    writer.join().unwrap();
    assert_eq!(found.evidence.columns(&found.graph)[0].values, [2.0, 3.0]);
    let plain = files.put("plain.csv", text);
    assert_eq!(
        sources.files(),
        [(path.clone(), crate::digest(plain).unwrap())]
    );
    let writer = write("src,dst,weight,s\na,b,1,2\n\nb,a,2,3\n");
    let error = read().unwrap_err().to_string();
    writer.join().unwrap();
    assert!(
        error.contains("line 4: ") && error.contains("on line 2"),
        "{error}"
    );
}

/// Ids that are small numbers, large numbers, padded numbers and text; the
/// small ones are many enough to use the table of numbers.
fn mixed_links() -> String {
    let mut text = String::from("src,dst,weight\n");
    let mut state = 1u64;
    let mut draw = |below: u64| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) % below
    };
    for _ in 0..30_000 {
        let mut id = |kind: u64| match kind {
            0..6 => draw(9000).to_string(),
            6 => format!("{}", 1_000_000_000_000 + draw(1000)),
            7 => format!("{:05}", draw(3000)),
            8 => format!("\"n, {}\n\"", draw(500)),
            _ => format!("node-{}", draw(1000)),
        };
        let (a, b) = (id(3), id(9));
        let (c, d) = (id(6), id(8));
        let (e, f) = (id(0), id(7));
        text.push_str(&format!("{a},{b},1\n{c},{d},2.5\n{e},{f},3\n"));
    }
    text
}

#[test]
fn threads_and_blocks_do_not_change_the_result() {
    let files = Files::new();
    let path = files.put("x.csv", mixed_links());
    let options = LinkRules {
        duplicates: Duplicates::Sum,
        ..LinkRules::default()
    };
    let read = |threads: usize, size: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        let pool = pool.build().unwrap();
        pool.install(|| read_in_blocks(Source::open(&path).unwrap(), &options, &[], size))
            .unwrap()
            .graph
    };
    let all = read(1, 1 << 30);
    assert!(all.n_nodes() > 9000);
    for (threads, size) in [(1, 5000), (3, 5000), (3, 777), (2, 100_000)] {
        let other = read(threads, size);
        assert_eq!(other.n_nodes(), all.n_nodes());
        assert_eq!(listing(&other), listing(&all), "{threads} {size}");
    }
    // The first error in the file is the one that is told.
    let wrong = files.put(
        "y.csv",
        mixed_links() + "a,b\n" + &mixed_links() + "c,d,x\n",
    );
    for size in [500, 50_000, 1 << 30] {
        let found = read_in_blocks(Source::open(&wrong).unwrap(), &options, &[], size)
            .unwrap_err()
            .to_string();
        assert!(found.contains("found 2 columns"), "{found}");
    }
}

#[test]
fn packed_files_read_the_same() {
    use std::io::Write;
    let text = "src,dst,weight\n\"a,1\",b,2\nb,c,0.25\n";
    let expected = listing(&read("x.csv", text).unwrap());
    let files = Files::new();
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(text.as_bytes()).unwrap();
    let gz = gz.finish().unwrap();
    let zst = zstd::encode_all(text.as_bytes(), 1).unwrap();
    // Two gzip members in a row are one file.
    let cut = text.find("b,c").unwrap();
    let mut members = Vec::new();
    for part in [&text[..cut], &text[cut..]] {
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(part.as_bytes()).unwrap();
        members.extend(gz.finish().unwrap());
    }
    for (name, bytes) in [
        ("x.csv.gz", &gz),
        ("x.csv.zst", &zst),
        ("y.csv.gz", &members),
    ] {
        let path = files.put(name, bytes);
        let graph = read_links(path, &LinkRules::default()).unwrap();
        assert_eq!(listing(&graph), expected, "{name}");
    }
    let path = files.put("z.csv.gz", &gz[..gz.len() - 10]);
    let found = read_links(path, &LinkRules::default()).unwrap_err();
    assert!(found.is_bad_input() && found.to_string().contains("z.csv.gz"));
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_reads_back_and_wrong_tables_are_refused() {
    let files = Files::new();
    let graph = read("x.csv", "a,b,1.5\n\"c, d\",a,2\n").unwrap();
    let path = files.0.path().join("links.parquet");
    write_links(&path, &graph).unwrap();
    let again = read_links(&path, &LinkRules::default()).unwrap();
    assert_eq!(listing(&again), listing(&graph));

    let bytes = std::fs::read(&path).unwrap();
    let packed = files.put(
        "x.parquet.zst",
        zstd::encode_all(bytes.as_slice(), 1).unwrap(),
    );
    let again = read_links(packed, &LinkRules::default()).unwrap();
    assert_eq!(listing(&again), listing(&graph));

    let short = files.put("short.parquet", &bytes[..bytes.len() - 7]);
    let text = files.put("text.parquet", "src,dst\n");
    let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let ids = Ids::Rows(2);
    let wide = files.0.path().join("wide.parquet");
    write_embeddings(&wide, EmbeddingFormat::Parquet, &ids, 2, 3, &values).unwrap();
    let floats = files.0.path().join("floats.parquet");
    write_embeddings(&floats, EmbeddingFormat::Parquet, &ids, 2, 1, &values[..2]).unwrap();
    for (path, what) in [
        (short, "Parquet"),
        (text, "Parquet"),
        (wide, "node, y0"),
        (floats, "decimal numbers in column 'y0'"),
    ] {
        let found = read_links(&path, &LinkRules::default()).unwrap_err();
        assert!(matches!(found, Error::Input { .. }), "{found}");
        assert!(found.to_string().contains(what), "{found}");
    }
}

#[test]
fn embeddings_read_back() {
    let files = Files::new();
    let mut names = Names::default();
    for name in ["a", "b \"2\"", " c,\n"] {
        names.insert(name);
    }
    let ids = Ids::from(names);
    let values = [0.1f32, -3.0, 1e-30, f32::MAX, 0.0, 1.0 / 3.0];
    let (n, k) = (3, 2);
    let mut formats = vec![
        ("y.npy", EmbeddingFormat::Npy),
        ("y.csv", EmbeddingFormat::Csv),
    ];
    if cfg!(feature = "parquet") {
        formats.push(("y.parquet", EmbeddingFormat::Parquet));
    }
    for (name, format) in formats {
        let path = files.0.path().join(name);
        write_embeddings(&path, format, &ids, n, k, &values).unwrap();
        let found = read_embeddings(&path).unwrap();
        assert_eq!((found.n, found.k), (n, k));
        assert_eq!(found.values, values);
        let last = if format == EmbeddingFormat::Npy {
            "2"
        } else {
            " c,\n"
        };
        assert_eq!(found.ids.name(2), last);
    }
    let path = files.0.path().join("y.txt");
    let word2vec = EmbeddingFormat::Word2vec;
    assert!(write_embeddings(&path, word2vec, &ids, n, k, &values).is_err());
    write_embeddings(&path, word2vec, &Ids::Rows(n), n, k, &values).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("3 2\n0 0.1 -3\n1 1e-30 "), "{text}");
    assert!(write_embeddings(&path, word2vec, &ids, 2, k, &values).is_err());
}

proptest! {
    #![proptest_config(crate::support::cases(64))]
    #[test]
    fn written_links_read_back(
        listed in proptest::collection::btree_map(
            ("[a-c0-9 ,\"\n\r\té]{1,4}", "[a-c0-9 ,\"\n\r\té]{1,4}"),
            1e-12f64..1e12,
            1..60,
        ),
        size in 1usize..200,
    ) {
        let mut names = Names::default();
        let mut rows = Vec::new();
        for ((src, dst), &weight) in &listed {
            let (src, dst) = (names.insert(src), names.insert(dst));
            rows.push(Link { src, dst, weight });
        }
        let rules = LinkRules { duplicates: Duplicates::Sum, self_links: SelfLinks::Drop, ..Default::default() };
        let graph = Graph::new(Ids::from(names), rows, rules).unwrap();
        prop_assume!(graph.n_links() > 0);
        let files = Files::new();
        let path = files.0.path().join("x.csv");
        write_links(&path, &graph).unwrap();
        let again = read_in_blocks(Source::open(&path).unwrap(), &LinkRules::default(), &[], size).unwrap().graph;
        let sorted = |graph: &Graph| {
            let mut links = listing(graph);
            for (a, b, _) in &mut links {
                if a > b { std::mem::swap(a, b) }
            }
            links.sort_by(|a, b| a.partial_cmp(b).unwrap());
            links
        };
        prop_assert_eq!(sorted(&again), sorted(&graph));
    }
}
