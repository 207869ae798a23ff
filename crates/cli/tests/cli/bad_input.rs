//! Every kind of bad input: exit code 2, file and line, nothing written.

use crate::lab::{Lab, links_csv, planted};

/// Each of these in place of the links.
#[test]
fn links() {
    let lab = Lab::new();
    let cases: &[(&str, &[u8], &[&str])] = &[
        ("empty.csv", b"", &["empty.csv", "empty"]),
        (
            "header.csv",
            b"src,dst,weight\n",
            &["header.csv", "no links"],
        ),
        ("one.csv", b"a\nb\n", &["one.csv, line 1", "1 column"]),
        ("four.csv", b"a,b,1,1\n", &["four.csv, line 1", "4 columns"]),
        (
            "ragged.csv",
            b"a,b,1\nb,c\n",
            &["ragged.csv, line 2", "2 columns"],
        ),
        (
            "text.csv",
            b"a,b,1\nb,c,much\n",
            &["text.csv, line 2", "'much'"],
        ),
        (
            "nan.csv",
            b"a,b,1\nb,c,nan\n",
            &["nan.csv, line 2", "'nan'"],
        ),
        (
            "inf.csv",
            b"a,b,1\n\nb,c,inf\n",
            &["inf.csv, line 3", "'inf'"],
        ),
        (
            "minus.csv",
            b"a,b,1\nb,c,-2\n",
            &["minus.csv, line 2", "weight -2"],
        ),
        (
            "self.csv",
            b"a,b,1\nb,b,2\n",
            &["self.csv, line 2", "'b' to itself"],
        ),
        (
            "twice.csv",
            b"a,b,1\nb,c,1\nb,a,2\n",
            &["twice.csv, line 3", "line 1"],
        ),
        ("zero.csv", b"a,b,0\nb,c,0\n", &["zero.csv", "no links"]),
        (
            "utf8.csv",
            b"a,b,1\nb,\xff,1\n",
            &["utf8.csv, line 2", "0xff"],
        ),
        (
            "noid.csv",
            b"a,b,1\nb,,1\n",
            &["noid.csv, line 2", "empty node id"],
        ),
        (
            "quote.csv",
            b"a,b,1\n\"b,c,1\n",
            &["quote.csv, line 2", "quote"],
        ),
        (
            "range.mtx",
            b"%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n3 1 1\n",
            &["range.mtx, line 3", "3"],
        ),
        (
            "wide.mtx",
            b"%%MatrixMarket matrix coordinate real general\n2 3 1\n1 2 1\n",
            &["wide.mtx, line 2"],
        ),
        ("broken.csv.gz", b"a,b,1\n", &["broken.csv.gz", "gz"]),
        ("broken.csv.zst", b"a,b,1\n", &["broken.csv.zst"]),
        ("broken.parquet", b"a,b,1\n", &["broken.parquet"]),
    ];
    for (name, content, what) in cases {
        lab.write(name, content);
        lab.refused(&format!("fit --links {name} --out m"), what);
    }
    lab.refused(
        "fit --links none.csv --out m",
        &["none.csv", "cannot be read"],
    );
    let output = lab.run("fit --links none.csv --out m");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said.matches("os error").count(), 1, "{said}");
    std::fs::create_dir(lab.path("folder")).unwrap();
    lab.refused("fit --links folder --out m", &["folder", "a file"]);
}

/// Each of these in place of the data vectors of the nodes a, b, c.
#[test]
fn features_as_text() {
    let lab = Lab::new();
    lab.write("links.csv", "a,b,1\nb,c,1\n");
    let cases: &[(&str, &[u8], &[&str])] = &[
        ("empty.csv", b"", &["empty.csv", "no data vectors"]),
        ("ids.csv", b"a\nb\nc\n", &["ids.csv, line 1", "1 column"]),
        (
            "ragged.csv",
            b"a,1,2\nb,1\nc,1,2\n",
            &["ragged.csv, line 2", "2 columns"],
        ),
        ("text.csv", b"a,1\nb,x\nc,1\n", &["text.csv, line 2", "'x'"]),
        (
            "nan.csv",
            b"a,1\nb,2\nc,NaN\n",
            &["nan.csv, line 3", "'NaN'"],
        ),
        (
            "inf.csv",
            b"a,1\nb,-inf\nc,1\n",
            &["inf.csv, line 2", "'-inf'"],
        ),
        (
            "again.csv",
            b"a,1\nb,2\na,3\n",
            &["again.csv, line 3", "'a' again"],
        ),
        (
            "utf8.csv",
            b"a,1\nb\xfe,2\nc,1\n",
            &["utf8.csv, line 2", "0xfe"],
        ),
        // A link to a node without a data vector names the line of the link.
        ("unknown.csv", b"a,1\nb,2\n", &["links.csv, line 2", "'c'"]),
        ("single.csv", b"a,1\n", &["links.csv, line 1", "'b'"]),
        (
            "range.mtx",
            b"%%MatrixMarket matrix coordinate real general\n2 2 1\n1 3 1\n",
            &["range.mtx, line 3", "3"],
        ),
    ];
    for (name, content, what) in cases {
        lab.write(name, content);
        lab.refused(
            &format!("fit --links links.csv --features {name} --out m"),
            what,
        );
    }
    lab.refused(
        "fit --links links.csv --features none.csv --out m",
        &["none.csv", "cannot be read"],
    );
}

#[test]
fn features_as_arrays() {
    let lab = Lab::new();
    lab.write("links.csv", "0,1,1\n1,2,1\n");
    let header = |descr: &str, fortran: &str, shape: &str| {
        format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}")
    };
    let numbers = |list: &[f64]| -> Vec<u8> { list.iter().flat_map(|x| x.to_le_bytes()).collect() };
    let three = numbers(&[1.0, 2.0, 3.0]);
    let good = header("<f8", "False", "(3, 1)");
    let cases: Vec<(&str, String, Vec<u8>, &[&str])> = vec![
        (
            "int.npy",
            header("<i8", "False", "(3, 1)"),
            three.clone(),
            &["int.npy", "<i8"],
        ),
        (
            "order.npy",
            header("<f8", "True", "(3, 1)"),
            three.clone(),
            &["order.npy", "Fortran"],
        ),
        (
            "big.npy",
            header(">f8", "False", "(3, 1)"),
            three.clone(),
            &["big.npy", "big-endian"],
        ),
        (
            "flat.npy",
            header("<f8", "False", "(3,)"),
            three.clone(),
            &["flat.npy", "dimensions"],
        ),
        (
            "short.npy",
            good.clone(),
            three[..20].to_vec(),
            &["short.npy", "bytes"],
        ),
        (
            "nan.npy",
            good.clone(),
            numbers(&[1.0, f64::NAN, 3.0]),
            &["nan.npy", "NaN in row 1"],
        ),
        (
            "inf.npy",
            good,
            numbers(&[1.0, 2.0, f64::INFINITY]),
            &["inf.npy", "inf in row 2"],
        ),
    ];
    for (name, header, numbers, what) in cases {
        lab.write_npy_with(name, &header, &numbers);
        lab.refused(
            &format!("fit --links links.csv --features {name} --out m"),
            what,
        );
    }
    lab.write("text.npy", "1,2,3\n");
    lab.refused(
        "fit --links links.csv --features text.npy --out m",
        &["text.npy", "mark"],
    );
    lab.write_npy("x.npy", &[vec![1.0], vec![2.0]]);
    lab.refused(
        "fit --links links.csv --features x.npy --out m",
        &["links.csv, line 2", "'2'"],
    );
    lab.write("nodes.csv", "node\n0\n1\n2\n");
    lab.refused(
        "fit --links links.csv --features x.npy --nodes nodes.csv --out m",
        &["x.npy", "2 rows", "nodes.csv", "3"],
    );
    lab.write("rows.csv", "node,row\n0,0\n1,1\n2,2\n");
    lab.refused(
        "fit --links links.csv --features x.npy --nodes rows.csv --out m",
        &["x.npy", "2 rows", "rows.csv", "row 2"],
    );
}

#[test]
fn nodes_and_labels() {
    let lab = Lab::new();
    lab.write("links.csv", "a,b,1\nb,c,1\n");
    for (content, what) in [
        ("", "no nodes"),
        ("node\na\nb\na\n", "line 4"),
        ("node,view\na\n", "line 2"),
    ] {
        lab.write("nodes.csv", content);
        let line = "fit --links links.csv --nodes nodes.csv --out m";
        lab.refused(line, &["nodes.csv", what]);
    }
    lab.write("nodes.csv", "node\na\nb\n");
    lab.refused(
        "fit --links links.csv --nodes nodes.csv --out m",
        &["links.csv, line 2", "'c'"],
    );
    for (content, what) in [
        ("", "no labels"),
        ("a,1\nb\n", "line 2"),
        ("x,1\ny,2\n", "such as 'x'"),
    ] {
        lab.write("labels.csv", content);
        let line = "fit --links links.csv --labels labels.csv --out m";
        lab.refused(line, &["labels.csv", what]);
    }
}

#[test]
fn a_model_of_another_version_or_a_damaged_one() {
    let lab = Lab::new();
    let graph = planted(30, 2, 2);
    lab.write(
        "links.csv",
        links_csv(&graph.links, |node| node.to_string()),
    );
    lab.write_npy("x.npy", &graph.features);
    lab.ok("fit --links links.csv --features x.npy --dim 2 --out m");
    let good = lab.bytes("m/model.safetensors");
    let version = b"\"version\":\"1\"";
    let mut parts = good.windows(version.len());
    let place = parts.position(|part| part == version).unwrap();
    let mut other = good.clone();
    other[place + version.len() - 2] = b'9';
    lab.write("pairs.csv", "0,1\n");
    for (bytes, what) in [
        (other, "version 9"),
        (good[..good.len() - 1].to_vec(), "cannot be used"),
        (b"{}".to_vec(), "cannot be used"),
        (Vec::new(), "cannot be used"),
    ] {
        lab.write("m/model.safetensors", bytes);
        for line in [
            "score --model m --pairs pairs.csv --out s.csv",
            "embed --model m --features x.npy --out e.npy",
            "neighbors --model m --node 0 --out n.csv",
        ] {
            lab.refused(line, &["m/model.safetensors", what]);
        }
    }
    lab.write("m/model.safetensors", good);
    lab.write("m/nodes.csv", "node\n0\n");
    lab.refused("neighbors --model m --node 0 --out n.csv", &["m/"]);
}

#[test]
fn a_first_line_that_names_no_nodes_is_left_out_and_said() {
    let lab = Lab::new();
    let ring: String = (0..40)
        .map(|node| format!("{node},{}\n", (node + 1) % 40))
        .collect();
    lab.write("links.csv", format!("user,item\n{ring}"));
    let text = lab.ok("fit --links links.csv --dim 2 --out m");
    assert!(text.contains("40 nodes, 40 links"), "{text}");
    assert!(
        text.contains("1 first line, 'user,item', taken for a header"),
        "{text}"
    );
    let nodes = lab.read("m/nodes.csv");
    assert!(!nodes.contains("user"), "{nodes}");
    let found = lab.json("inspect --links links.csv");
    assert_eq!(
        (&found["read"]["headers"], &found["nodes"]),
        (&1.into(), &40.into())
    );
}
