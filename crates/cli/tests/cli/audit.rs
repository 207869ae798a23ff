//! `linkproof audit`: the judgment of a model's links, and of others.

use crate::lab::links_csv;
use crate::robust::{FIT, add_false, graph, name, noise, number, rows, write};

const COLUMNS: &str = "rank,src,dst,src_name,dst_name,weight,belief,suspect,why,mu,trust,\
    influence,false_discovery_rate";

/// Words without line breaks.
fn joined(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn false_links_come_first_and_clean_leaves_them_out() {
    let mut graph = graph();
    let wrong = add_false(&mut graph, 200, 1.0);
    let lab = write(&graph);
    lab.ok(&format!("{FIT} --quiet --out m"));
    let line = "audit --model m --out a.csv --clean kept.csv --missing 4";
    let found = lab.json(line);
    assert_eq!(found["abstained"], false);
    assert_eq!(found["judged_by_links_alone"], false);
    for name in ["share_low", "share_high", "auc", "auc_decoys"] {
        assert!(found[name].is_number(), "{name}: {found}");
    }
    let truth = wrong.len() as f64 / graph.links.len() as f64;
    assert!(
        (found["share_false"].as_f64().unwrap() - truth).abs() < 0.1,
        "{found}"
    );
    let kinds: Vec<_> = found["detection"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["kind"])
        .collect();
    assert_eq!(kinds, ["uniform", "by degree", "alike"]);
    assert_eq!(found["implanted"].as_array().unwrap().len(), 3);
    let text = lab.read("a.csv");
    assert_eq!(text.lines().next(), Some(COLUMNS));
    let table = rows(&text);
    assert_eq!(table.len(), graph.links.len());
    assert!(
        table
            .iter()
            .zip(1..)
            .all(|(row, rank)| row[0] == rank.to_string())
    );
    let is_wrong = |row: &Vec<String>| {
        let node = |text: &str| text[5..].parse::<usize>().unwrap();
        let (a, b) = (node(&row[1]), node(&row[2]));
        wrong.contains(&(a.min(b), a.max(b)))
    };
    let first = table[..120].iter().filter(|row| is_wrong(row)).count();
    assert!(first > 100, "{first}");
    let flagged = table.iter().filter(|row| row[7] == "1").count();
    assert_eq!(
        (&found["suspects"], &found["flagged"]),
        (&flagged.into(), &flagged.into())
    );
    assert_eq!(rows(&lab.read("kept.csv")).len(), table.len() - flagged);
    assert_eq!(rows(&lab.read("missing.csv")).len(), 4);
    assert_eq!(found["missing"].as_array().unwrap().len(), 4);
    // The folder, the fit and the audit say the same.
    let suspects = rows(&lab.read("m/suspects.csv"));
    assert!(suspects.iter().zip(&table).all(|(a, b)| a[..] == b[..9]));
    // The model's own links, in a file or not.
    lab.ok("audit --model m --links links.csv --out b.csv");
    assert_eq!(lab.read("b.csv"), text);
    // Rates, counts and beliefs.
    let found = lab.json("audit --model m --clean k.csv --false-discovery-rate 0.02");
    assert!(found["suspects"].as_u64().unwrap() < flagged as u64);
    lab.ok("audit --model m --clean k.csv --drop 10");
    assert_eq!(rows(&lab.read("k.csv")).len(), table.len() - 10);
    lab.ok("audit --model m --clean k.csv --min-belief 0.9");
    let least = table.iter().filter(|row| number(&row[6]) >= 0.9).count();
    assert_eq!(rows(&lab.read("k.csv")).len(), least);
    // What is printed.
    let words = joined(&lab.ok("audit --model m --top 2"));
    for part in [
        "rank src dst",
        "flagged in m/suspects.csv.",
        "Test We planted",
        "--sample 30",
    ] {
        assert!(words.contains(part), "{part}: {words}");
    }
    assert!(words.contains(" 2* ") && !words.contains(" 3* "), "{words}");
}

#[test]
fn verified_links_stay_in_the_model_and_reach_the_next_fit() {
    let mut graph = graph();
    let wrong = add_false(&mut graph, 60, 1.0);
    let lab = write(&graph);
    lab.ok(&format!("{FIT} --quiet --sample 30 --out m"));
    let answered = |text: &str| {
        let row = |row: Vec<String>| {
            let node = |text: &str| text[5..].parse::<usize>().unwrap();
            let (a, b) = (node(&row[0]), node(&row[1]));
            let real = u8::from(!wrong.contains(&(a.min(b), a.max(b))));
            format!("{},{},,,{real}\n", row[0], row[1])
        };
        let rows: String = rows(text).into_iter().map(row).collect();
        format!("src,dst,src_name,dst_name,real\n{rows}")
    };
    assert_eq!(rows(&lab.read("m/sample.csv")).len(), 30);
    lab.write("m/sample.csv", answered(&lab.read("m/sample.csv")));
    lab.refused(
        "audit --model m --sample 5",
        &["sample.csv", "30 answers", "--checked"],
    );
    let found = lab.json("audit --model m --checked m/sample.csv --sample 5");
    assert_eq!(found["checks"]["verified"], 30, "{found}");
    assert!(found["share_high_unchecked"].is_number());
    assert_eq!(rows(&lab.read("m/sample.csv")).len(), 5);
    assert_eq!(rows(&lab.read("m/checked.csv")).len(), 30);
    assert_eq!(lab.json("audit --model m")["checks"]["verified"], 30);
    let words = joined(&lab.ok("audit --model m"));
    assert!(words.contains("by 30 checks"), "{words}");
    assert!(words.contains("--robust --force --out m"), "{words}");
    // A new fit counts them, and keeps the user's files.
    let words = joined(&lab.ok(&format!("{FIT} --force --out m")));
    assert!(words.contains("by 30 checks"), "{words}");
    assert_eq!(rows(&lab.read("m/checked.csv")).len(), 30);
    assert_eq!(rows(&lab.read("m/sample.csv")).len(), 5);
    lab.write("v.csv", "src,dst,real\nnode 0,node 1,1\n");
    lab.refused(
        "audit --model m --checked v.csv",
        &["v.csv, line 2", "no link"],
    );
}

#[test]
fn plain_models_and_other_links_are_judged_too() {
    let mut graph = graph();
    add_false(&mut graph, 60, 1.0);
    let lab = write(&graph);
    lab.ok("fit --links links.csv --features x.csv --dim 10 --quiet --out m");
    let found = lab.json("audit --model m --out a.csv");
    assert_eq!(
        (&found["abstained"], &found["judged_by_links_alone"]),
        (&false.into(), &true.into())
    );
    let words = lab.ok("audit --model m");
    assert!(words.contains("--features FILE"), "{words}");
    assert!(!lab.path("m/suspects.csv").exists());
    let found = lab.json("audit --model m --features x.csv");
    assert_eq!(found["judged_by_links_alone"], false);
    // Fewer links than anything can be said of: they are ranked all the same.
    lab.write("few.csv", "node 0,node 3\nnode 0,node 1\n");
    let found = lab.json("audit --model m --links few.csv --out f.csv");
    assert_eq!(
        (&found["abstained"], &found["suspects"]),
        (&true.into(), &0.into())
    );
    assert_eq!(rows(&lab.read("f.csv")).len(), 2);
    lab.refused(
        "audit --model m --links few.csv --sample 1",
        &["--sample", "linkproof check"],
    );
    let some = links_csv(&graph.links[..400], name);
    lab.write(
        "some.csv",
        some.replace(",1\n", ",1,0.5\n")
            .replace("weight", "weight,score"),
    );
    lab.ok("audit --model m --links some.csv --features x.csv --evidence score --no-test");
}

#[test]
fn links_that_look_random_are_ranked_and_not_called_false() {
    let noise = noise();
    let lab = write(&noise);
    lab.ok(&format!("{FIT} --quiet --out m"));
    let refused = lab.run("audit --model m --out a.csv --clean kept.csv");
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        said.starts_with("error: --clean kept.csv: not written"),
        "{said}"
    );
    assert!(!lab.path("kept.csv").exists());
    let table = rows(&lab.read("a.csv"));
    assert!(
        table
            .iter()
            .all(|row| row[6].is_empty() && row[7] == "0" && row[12].is_empty())
    );
    lab.ok("audit --model m --clean kept.csv --drop 10");
    assert_eq!(rows(&lab.read("kept.csv")).len(), noise.links.len() - 10);
}

#[test]
fn wrong_and_old_options() {
    let lab = write(&graph());
    lab.ok("fit --links links.csv --features x.csv --dim 3 --quiet --out m");
    for (options, what) in [
        ("--rate 2", ["--rate", "between 0 and 1"]),
        ("--missing -1", ["--missing", "-1"]),
        ("--drop 3", ["required", "--clean"]),
    ] {
        lab.refused(&format!("audit --model m {options}"), &what);
    }
    lab.write("other.csv", "src,dst\nnode 1,node 2\nnode 1,stranger\n");
    let what = ["other.csv, line 3", "'stranger'", "nodes.csv"];
    lab.refused("audit --model m --links other.csv", &what);
    lab.refused("audit --model none", &["none"]);
    let old = "smooth --model m --links links.csv --features x.csv --out y.npy";
    lab.refused(old, &["is gone", "fit --robust", "embed"]);
}
