//! Several views: each with its own data vectors, encoder and gammas.

use crate::lab::{Lab, Numbers};

/// Authors and papers, interleaved, and venues without data vectors.
fn lab() -> Lab {
    let lab = Lab::new();
    let mut random = Numbers::new(5);
    let mut nodes = "node,view\n".to_owned();
    let (mut papers, mut authors) = (Vec::new(), Vec::new());
    for i in 0..20 {
        nodes.push_str(&format!("p{i},paper\na{i},author\n"));
        let noise: Vec<f64> = (0..5).map(|_| 0.2 * random.next()).collect();
        let group = f64::from(u8::from(i % 2 == 0));
        papers.push(vec![group + noise[0], 1.0 - group + noise[1]]);
        authors.push(vec![noise[2], group + noise[3], 1.0 - group + noise[4]]);
    }
    nodes.push_str("v0,venue\nv1,venue\n");
    lab.write("nodes.csv", nodes);
    lab.write_npy("papers.npy", &papers);
    lab.write_npy("authors.npy", &authors);
    let mut links = String::new();
    for i in 0..20 {
        for j in 0..20 {
            if i % 2 == j % 2 && random.next() < 0.5 {
                links.push_str(&format!("p{i},a{j},2\n"));
            }
        }
        links.push_str(&format!("p{i},v{},1\n", i % 2));
    }
    lab.write("links.csv", links);
    lab
}

const FIT: &str = "fit --links links.csv --nodes nodes.csv --features paper=papers.npy \
                   --features author=authors.npy --dim 3";

#[test]
fn views_are_fitted_into_one_space() {
    let lab = lab();
    let found = lab.json(&format!(
        "{FIT} --encoder author=mlp --hidden 6 --encoder linear --encoder venue=table --out m"
    ));
    let gamma = found["gamma"].as_object().unwrap();
    let mut names: Vec<&str> = gamma.keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["paper:author", "paper:venue"]);
    assert!(
        lab.read("m/nodes.csv")
            .starts_with("node,view\np0,paper\na0,author\n")
    );

    lab.ok("neighbors --model m --node p3 --within author --top 1 --out n.csv");
    let text = lab.read("n.csv");
    let partner = text.lines().nth(1).unwrap().split(',').nth(1).unwrap();
    assert!(partner.starts_with('a'), "{text}");
    let number: usize = partner[1..].parse().unwrap();
    assert_eq!(number % 2, 1, "{text}");

    lab.ok("embed --model m --features authors.npy --nodes nodes.csv --view author --out a.npy");
    assert!(lab.read("a.nodes.csv").starts_with("node\na0\na1\n"));
    let (fitted, found) = (lab.read_npy("m/embeddings.npy").2, lab.read_npy("a.npy").2);
    for i in 0..20 {
        for k in 0..3 {
            assert!((fitted[(2 * i + 1) * 3 + k] - found[i * 3 + k]).abs() < 1e-6);
        }
    }
    lab.write("pairs.csv", "a1,p1\nnew,p1\n");
    lab.write("new.csv", "new,0,1,0\n");
    let line = "score --model m --pairs pairs.csv --out s.csv";
    lab.ok(&format!("{line} --features author=new.csv"));
    let by_name = lab.read("s.csv");
    lab.ok(&format!("{line} --features new.csv --view author"));
    assert_eq!(lab.read("s.csv"), by_name);
    lab.refused(
        &format!("{line} --features new.csv"),
        &["view", "paper, author, venue"],
    );
    lab.write("pairs.csv", "p1,a1\na1,a2\n");
    lab.refused(line, &["pairs.csv, line 2", "'author' and 'author'"]);
    // No weights are expected between authors and venues.
    let line = "neighbors --model m --node a1 --within venue --out n.csv";
    assert!(lab.ok(line).contains("took no part in the fit"));
    assert!(
        lab.read("n.csv")
            .starts_with("node,neighbor,rank,mu,cosine\na1,v")
    );
    lab.refused(&format!("{line} --by weight"), &["--within", "venue"]);
}

#[test]
fn named_pairs_of_views_take_part() {
    let lab = lab();
    let found = lab.json(&format!("{FIT} --view-pairs paper:author --out m"));
    let gamma = found["gamma"].as_object().unwrap();
    assert_eq!(gamma.len(), 1);
    let words = lab.ok(&format!("{FIT} --view-pairs paper:author --out m --force"));
    assert!(
        words.contains("20 links between views that take no part"),
        "{words}"
    );
}

#[test]
fn views_that_do_not_fit_are_refused() {
    let lab = lab();
    let cases = [
        (
            "--features paper=papers.npy --features paper=authors.npy --nodes nodes.csv",
            "'paper'",
        ),
        (
            "--features papers.npy --features authors.npy --nodes nodes.csv",
            "NAME=FILE",
        ),
        (
            "--features paper=papers.npy --features author=authors.npy",
            "--nodes",
        ),
        ("--features papers.npy --nodes nodes.csv", "NAME=FILE"),
        (
            "--features paper=papers.npy --features x=authors.npy --nodes nodes.csv",
            "view 'x'",
        ),
    ];
    for (options, what) in cases {
        lab.refused(&format!("fit --links links.csv {options} --out m"), &[what]);
    }
    lab.refused(&format!("{FIT} --encoder x=mlp --out m"), &["encoder"]);
    lab.write(
        "plain.csv",
        lab.read("nodes.csv").replace("node,view", "node,kind"),
    );
    lab.refused(
        "fit --links links.csv --features paper=papers.npy --nodes plain.csv --out m",
        &["plain.csv", "no column 'view'"],
    );
    lab.write_npy("papers.npy", &vec![vec![1.0, 2.0]; 19]);
    lab.refused(
        &format!("{FIT} --out m"),
        &["papers.npy", "19 rows", "20", "nodes.csv"],
    );
}

/// Papers and authors with ids of their own, in files that have them.
fn with_ids(lab: &Lab) {
    let (mut papers, mut authors, mut links) = (String::new(), String::new(), String::new());
    for i in 0..12 {
        let group = i % 2;
        papers.push_str(&format!("p{i},{group},{}\n", 1 - group));
        authors.push_str(&format!("a{i},{group},{},{i}\n", 1 - group));
        links.push_str(&format!("p{i},a{}\np{i},a{}\n", (i + 2) % 12, (i + 4) % 12));
    }
    lab.write("papers.csv", papers);
    lab.write("authors.csv", authors);
    lab.write("cites.csv", links);
}

#[test]
fn files_with_ids_tell_the_nodes_of_their_views() {
    let lab = Lab::new();
    with_ids(&lab);
    let files = "--features paper=papers.csv --features author=authors.csv";
    let rest = "--dim 2 --steps 5";
    lab.ok(&format!("fit --links cites.csv {files} {rest} --out m"));
    lab.write("n1.csv", "node\n".to_owned() + &ids("p"));
    lab.write("n2.csv", "node\n".to_owned() + &ids("a"));
    let nodes = "--nodes paper=n1.csv --nodes author=n2.csv";
    lab.ok(&format!(
        "fit --links cites.csv {files} {nodes} {rest} --out n"
    ));
    for file in ["nodes.csv", "embeddings.npy"] {
        assert_eq!(
            lab.bytes(&format!("m/{file}")),
            lab.bytes(&format!("n/{file}"))
        );
    }
    lab.ok(&format!(
        "audit --model m --links cites.csv {files} --out a.csv"
    ));
    // The way there: each message says what to type.
    let two = "fit --links cites.csv --features papers.csv --features authors.csv --out x";
    let names = "--features a=papers.csv --features b=authors.csv";
    let sides = "--bipartite --features source=papers.csv --features target=authors.csv";
    lab.refused(two, &[names, sides]);
    for (place, files) in [names, sides].iter().enumerate() {
        lab.ok(&format!(
            "fit --links cites.csv {files} {rest} --out y{place}"
        ));
    }
    let line = format!("{two} --bipartite");
    lab.refused(&line, &["source=FILE", "target=FILE"]);
    lab.write("same.csv", lab.read("authors.csv").replace('a', "p"));
    let same = "--features paper=papers.csv --features author=same.csv";
    lab.refused(
        &format!("fit --links cites.csv {same} --out x"),
        &["same.csv", "'p0'", "--bipartite"],
    );
    lab.write_npy("bare.npy", &vec![vec![1.0, 2.0]; 12]);
    let bare = "--features paper=papers.csv --features author=bare.npy";
    lab.refused(
        &format!("fit --links cites.csv {bare} --out x"),
        &["bare.npy", "--nodes NAME=FILE", "--bipartite"],
    );
    let text = lab.ok(&format!("inspect --links cites.csv {sides}"));
    assert!(text.contains("Links and features"), "{text}");
}

fn ids(letter: &str) -> String {
    (0..12).map(|i| format!("{letter}{i}\n")).collect()
}
