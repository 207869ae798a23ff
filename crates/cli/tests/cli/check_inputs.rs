//! What `linkproof check` reads: evidence, two catalogues, and what it refuses.

use crate::check::{LINE, corrupted, is_false, rows};
use crate::lab::{Lab, Numbers};

#[test]
fn columns_of_the_links_are_evidence() {
    let (lab, wrong) = corrupted();
    let mut random = Numbers::new(4);
    let text = lab.read("links.csv");
    let mut with = "src,dst,score,same,weight\n".to_owned();
    for row in rows(&text) {
        let real = !is_false(&row, 0, &wrong);
        let score = random.next() + if real { 1.0 } else { 0.0 };
        let score = if random.next() < 0.1 {
            String::new()
        } else {
            score.to_string()
        };
        with.push_str(&format!("{},{},{score},7,1\n", row[0], row[1]));
    }
    lab.write("scored.csv", &with);
    let line = "check --links scored.csv --features x.csv --no-test";
    let first = |folder: &str| {
        let suspects = rows(&lab.read(&format!("{folder}/suspects.csv")));
        suspects[..wrong.len()]
            .iter()
            .filter(|row| is_false(row, 1, &wrong))
            .count()
    };
    lab.ok(&format!("{line} --quiet --out plain"));
    let words = lab.ok(&format!("{line} --evidence score,same --out scored"));
    assert!(
        words.contains("The column same has one value only and is not used."),
        "{words}"
    );
    assert!(!words.contains("Left out: "), "{words}");
    assert!(
        first("scored") > first("plain"),
        "{} {}",
        first("scored"),
        first("plain")
    );
    for (name, content, evidence, what) in [
        (
            "l.csv",
            "src,dst,s\na,b,1\n",
            "t",
            ["l.csv", "no column 't'"],
        ),
        (
            "l.csv",
            "a,b,1\nb,c,2\n",
            "s",
            ["line 1", "which is no header"],
        ),
        (
            "l.csv",
            "src,dst,s\na,b,1\nb,c,x\n",
            "s",
            ["line 3", "'x' in column 's'"],
        ),
        (
            "l.mtx",
            "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 1\n",
            "s",
            ["l.mtx", "MatrixMarket"],
        ),
    ] {
        lab.write(name, content);
        lab.refused(
            &format!("check --links {name} --evidence {evidence} --out o"),
            &what,
        );
    }
}

#[test]
fn two_catalogues_may_share_one_file_of_features() {
    let lab = Lab::new();
    let mut random = Numbers::new(6);
    let mut features = String::new();
    let mut links = "src,dst\n".to_owned();
    for pair in 0..80 {
        let row: Vec<f64> = (0..6).map(|_| random.next()).collect();
        for side in ["a", "b"] {
            let row: Vec<String> = row
                .iter()
                .map(|x| (x + 0.1 * random.next()).to_string())
                .collect();
            features.push_str(&format!("{side}{pair},{}\n", row.join(",")));
        }
        for step in [0, 1, 7] {
            links.push_str(&format!("a{pair},b{}\n", (pair + step) % 80));
        }
    }
    lab.write("x.csv", features);
    lab.write("links.csv", links);
    lab.write(
        "nodes.csv",
        (0..80).fold("id,name\n".to_owned(), |text, pair| {
            text + &format!("a{pair},Thing {pair}\n")
        }),
    );
    let line = "check --links links.csv --bipartite --features x.csv --nodes nodes.csv --one-to-one --out chk";
    let found = lab.json(line);
    assert_eq!(
        (&found["nodes"], &found["one_to_one"]),
        (&160.into(), &true.into())
    );
    let beliefs = rows(&lab.read("chk/beliefs.csv"));
    let mut sorted = beliefs.clone();
    sorted.sort_by(|a, b| {
        b[3].parse::<f64>()
            .unwrap()
            .total_cmp(&a[3].parse::<f64>().unwrap())
    });
    let right = sorted[..80]
        .iter()
        .filter(|row| row[0][1..] == row[1][1..])
        .count();
    assert!(right > 60, "{right}");
    assert!(lab.read("chk/suspects.csv").contains("Thing "));
    let words = lab.ok("check --out chk");
    assert!(words.contains("at most one real partner"), "{words}");
    lab.refused(
        "check --links links.csv --bipartite --features source=x.csv --features x.csv --out o",
        &["--features"],
    );
    lab.write("x.csv", "a1,1\nb1,2\n");
    lab.refused(
        &line.replace("--out chk", "--out o"),
        &["x.csv", "no row for node"],
    );
}

#[test]
fn wrong_usage_and_damaged_folders_are_refused() {
    let (lab, _) = corrupted();
    lab.ok(&format!("{LINE} --quiet"));
    let other = LINE.replace("--out chk", "--out o");
    for (line, what) in [
        (LINE.to_owned(), ["chk", "already holds a check"]),
        (format!("{other} --rate 2"), ["--rate", "between 0 and 1"]),
        (format!("{other} --rate nan"), ["--rate", "between 0 and 1"]),
        (
            format!("{other} --drop 3"),
            ["--clean", "were not provided"],
        ),
        (
            format!("{other} --clean k.csv --drop 3 --rate 0.1"),
            ["--drop", "--rate"],
        ),
        (
            format!("{other} --clean k.csv --min-belief -1"),
            ["--min-belief", "between 0 and 1"],
        ),
        (format!("{other} --sample 0"), ["--sample", "1 or more"]),
        (
            format!("{other} --clean links.csv"),
            ["links.csv", "is read as well"],
        ),
        ("check --out none".to_owned(), ["none", "--links FILE"]),
        (
            "check --out chk --features x.csv".to_owned(),
            ["--links", "were not provided"],
        ),
        (
            "check --out chk --one-to-one".to_owned(),
            ["--links", "were not provided"],
        ),
        (
            format!("{other} --checked none.csv"),
            ["none.csv", "cannot be read"],
        ),
        (
            format!("{other} --max-memory 1MB"),
            ["of memory", "--max-memory"],
        ),
    ] {
        match line.contains("--max-memory") {
            true => lab.ends_with(1, &line, &what),
            false => lab.refused(&line, &what),
        }
    }
    for (text, what) in [
        ("src,dst,real\nn0,n1,1\nn1,n0,0\n", ["line ", "n0"]),
        ("src,dst,real\nn0,stranger,1\n", ["line 2", "'stranger'"]),
        ("src,dst,real\nn0,n1,maybe\n", ["line 2", "'maybe'"]),
        ("src,dst\nn0,n1\n", ["v.csv", "real"]),
    ] {
        lab.write("v.csv", text);
        lab.refused("check --out chk --checked v.csv", &what);
    }
    lab.write("chk/judgment.safetensors", "no numbers");
    lab.refused(
        "check --out chk",
        &["judgment.safetensors", "cannot be used"],
    );
    lab.write("chk/check.json", "{");
    lab.refused("check --out chk", &["check.json, line 1"]);
    lab.write("chk/mine.txt", "");
    lab.refused(
        &format!("{LINE} --force"),
        &["mine.txt", "no part of a check"],
    );
}
