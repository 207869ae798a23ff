//! `linkproof reproduce`, small.

use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::lab::{Lab, planted};

/// A folder `data` as `datasets fetch` makes it: 60 nodes in three classes.
fn with_data() -> Lab {
    let lab = Lab::new();
    std::fs::create_dir(lab.path("data")).unwrap();
    let graph = planted(60, 3, 4);
    let links = graph.links.iter().map(|(a, b, w)| format!("{a},{b},{w}\n"));
    lab.write(
        "data/edges.csv",
        format!("src,dst,weight\n{}", links.collect::<String>()),
    );
    let mut entries = String::new();
    let mut count = 0;
    for (row, features) in graph.features.iter().enumerate() {
        for (column, value) in features.iter().enumerate() {
            entries.push_str(&format!("{} {} {value}\n", row + 1, column + 1));
            count += 1;
        }
    }
    lab.write(
        "data/features.mtx",
        format!("%%MatrixMarket matrix coordinate real general\n60 5 {count}\n{entries}"),
    );
    let labels = (0..60).map(|node| format!("{node},{}\n", node % 3));
    lab.write(
        "data/labels.csv",
        format!("node,label\n{}", labels.collect::<String>()),
    );
    lab
}

/// A folder of rivals: one that is the same rows every time, one that fails.
fn with_rivals(lab: &Lab) {
    std::fs::create_dir(lab.path("rivals")).unwrap();
    // As many as test.csv has lines: test nodes alone, or all.
    for nodes in [12, 60] {
        let rows: Vec<Vec<f64>> = (0..nodes).map(|row| vec![f64::from(row), 1.0]).collect();
        lab.write_npy(&format!("rivals/rows{}.npy", nodes + 1), &rows);
    }
    // 60 things, seen twice: partners are next to each other.
    let things: Vec<Vec<f64>> = (0..120)
        .map(|row| {
            (0..60)
                .map(|thing| f64::from(u8::from(row % 60 == thing)))
                .collect()
        })
        .collect();
    lab.write_npy("rivals/things.npy", &things);
    lab.write(
        "rivals/run",
        r#"#!/bin/sh
here=$(dirname "$0")
if [ "$1" = list ]; then
    echo '{"rivals":[
        {"name":"gae","title":"Same rows","settings":["all","unseen-links"]},
        {"name":"gae-binary","title":"Without weights","settings":["all"],"variant_of":"gae"},
        {"name":"dgi","title":"Fails","settings":["unseen"]},
        {"name":"cdmca","title":"One view and two","settings":["unseen"],"views":true},
        {"name":"cca","title":"Two views","settings":[],"views":true}]}'
    exit
fi
echo "$@" > "$here/called"
while read -r line; do
    id=$(echo "$line" | sed 's/.*"id":"\([^"]*\)".*/\1/')
    out=$(echo "$line" | sed 's/.*"out":"\([^"]*\)".*/\1/')
    data=$(echo "$line" | sed 's/.*"data":"\([^"]*\)".*/\1/')
    case "$id" in
    *views*) test -s "$data/features-a.npy" && test -s "$data/features-b.npy" &&
       grep -q '^0,60,' "$data/links.csv" && cp "$here/things.npy" "$out"
       echo "{\"id\":\"$id\",\"ok\":true}" ;;
    *dgi*) echo "{\"id\":\"$id\",\"ok\":false,\"error\":\"no luck\"}" ;;
    *) lines=$(wc -l < "$data/test.csv")
       cp "$here/rows$lines.npy" "$out" 2>/dev/null || cp "$here/rows13.npy" "$out"
       echo "$lines" >> "$here/rows"
       echo "{\"id\":\"$id\",\"ok\":true,\"seconds\":1.5}" ;;
    esac
done < "$2"
"#,
    );
    let mut rights = std::fs::metadata(lab.path("rivals/run"))
        .unwrap()
        .permissions();
    rights.set_mode(0o755);
    std::fs::set_permissions(lab.path("rivals/run"), rights).unwrap();
}

fn json(lab: &Lab, name: &str) -> Value {
    serde_json::from_str(&lab.read(name)).unwrap()
}

fn cell<'t>(table: &'t Value, row: &str, column: &str) -> &'t Value {
    let rows = table["rows"].as_array().unwrap();
    let row = rows.iter().find(|other| other["name"] == row);
    &row.unwrap_or(&Value::Null)["cells"][column]
}

#[test]
fn table_1_is_written_and_finished_cells_are_kept() {
    let lab = Lab::new();
    let found = lab.json("reproduce table1 --runs 1 --out t");
    let table = &found["tables"][0];
    assert_eq!(table["columns"].as_array().unwrap().len(), 3);
    let paper = cell(table, "likelihood, ridge 10", "xi = 0.01");
    assert_eq!(paper["paper"], 0.72);
    let chosen = cell(
        table,
        "chosen without labels, of all candidates",
        "xi = 0.01",
    );
    assert!(chosen["mean"].as_f64().unwrap() > 0.8, "{chosen}");
    // With one data set no choice is better than the best candidate.
    let best = cell(table, "best candidate on average (by labels)", "xi = 0.01");
    assert!(best["mean"].as_f64().unwrap() >= chosen["mean"].as_f64().unwrap());
    let text = lab.read("t/table1.md");
    assert!(
        text.contains("(0.72)") && text.contains("reproduce table1 --runs 1"),
        "{text}"
    );

    // A cell that is there is not worked on again; one that is not, is.
    let kept = lab.read("t/cells/xi0.01-run0.json");
    let row = "\"row\": \"likelihood, ridge 10\"";
    assert!(kept.contains(row));
    let marked = kept.replace(row, "\"row\": \"marked\"");
    lab.write("t/cells/xi0.01-run0.json", marked);
    std::fs::remove_file(lab.path("t/cells/xi0.02-run0.json")).unwrap();
    let again = lab.json("reproduce table1 --runs 1 --out t");
    let table = &again["tables"][0];
    assert!(cell(table, "likelihood, ridge 10", "xi = 0.01").is_null());
    assert_eq!(
        cell(table, "likelihood, ridge 10", "xi = 0.02"),
        cell(&found["tables"][0], "likelihood, ridge 10", "xi = 0.02")
    );
    // A cut cell counts as not done.
    lab.write("t/cells/xi0.01-run0.json", "{\"readings\":[");
    let again = lab.json("reproduce table1 --runs 1 --out t");
    assert_eq!(again["tables"], found["tables"]);
    lab.refused(
        "reproduce table1 --runs 1 --seed 3 --out t",
        &["--out t", "seed 0 there, 3 here", "--force"],
    );
}

#[test]
fn figure_1_is_drawn() {
    let lab = Lab::new();
    let found = lab.json("reproduce figure1 --out f");
    assert_eq!(found["more"]["panels"].as_array().unwrap().len(), 3);
    // The command is written as a shell takes it.
    let out = lab.path("a b").display().to_string();
    let mut command = lab.command("reproduce figure1 --quiet --out");
    assert!(command.arg(&out).output().unwrap().status.success());
    let text = lab.read("a b/figure1.md");
    assert!(text.contains(&format!("--out '{out}'")), "{text}");
    let svg = lab.read("f/figure1.svg");
    assert_eq!(svg.matches("<circle").count(), 600);
    assert!(lab.read("f/figure1.md").contains("figure1.svg"));
}

#[test]
fn table_2_has_both_settings_and_rivals() {
    let lab = with_data();
    with_rivals(&lab);
    let line = "reproduce table2 --data data --quick --runs 1 --out t";
    let found = lab.json(line);
    let table = &found["tables"][0];
    let recipe = "Linkproof, fit --robust";
    for column in ["(A)", "(B)", "(B), with links"] {
        let mean = cell(table, recipe, column)["mean"].as_f64().unwrap();
        assert!((20.0..=100.0).contains(&mean), "{column}: {mean}");
    }
    assert!(
        cell(
            table,
            "Linkproof, fit (moment, beta 0.1, ridge 2)",
            "(B), with links"
        )
        .is_null()
    );
    assert_eq!(
        cell(table, "paper's network, beta 0.5, blocks", "(B)")["paper"],
        31.0
    );

    // The rivals' jobs; ours are kept.
    let output = lab.run(&format!("{line} --rivals rivals --processes 3"));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(
        errors.contains("dgi") && errors.contains("no luck"),
        "{errors}"
    );
    assert!(lab.read("rivals/called").contains("--processes 3"));
    // 12 test nodes and a header.
    assert_eq!(
        lab.read("rivals/rows")
            .split_whitespace()
            .collect::<Vec<_>>(),
        ["13", "13", "13"]
    );
    let found = json(&lab, "t/table2.json");
    let table = &found["tables"][0];
    assert!(cell(table, "Same rows", "(A)")["mean"].is_number());
    assert!(cell(table, "Same rows", "(B)").is_null());
    assert!(cell(table, "Without weights", "(A)").is_null());
    assert!(cell(table, "One view and two", "(B)")["mean"].is_number());
    assert!(lab.read("t/table2.md").contains("| Same rows |"));
    // Only what failed is tried again.
    lab.run(&format!("{line} --rivals rivals"));
    assert_eq!(lab.read("rivals/rows").split_whitespace().count(), 3);
}

#[test]
fn contamination_has_tables_and_a_picture_for_each_graph() {
    let lab = with_data();
    let line = "reproduce contamination --data data --quick --runs 1 --out c";
    let found = lab.json(&format!("{line} --damage clean,w10x100"));
    let tables = found["tables"].as_array().unwrap();
    let names: Vec<&str> = tables.iter().map(|t| t["name"].as_str().unwrap()).collect();
    #[rustfmt::skip]
    assert_eq!(names, [
        "data", "data-links", "blocks", "blocks-links", "bloggers", "bloggers-links", "views",
        "views-links",
    ]);
    let number = |table: &Value, row: &str, column: &str| cell(table, row, column)["mean"].as_f64();
    for pair in tables.chunks(2) {
        let views = pair[0]["name"] == "views";
        assert_eq!(
            pair[0]["columns"].as_array().unwrap().len(),
            if views { 9 } else { 11 }
        );
        for column in ["clean", "10% at 100"] {
            for row in ["Linkproof, fit", "Linkproof, fit --robust"] {
                assert!(number(&pair[0], row, column).is_some(), "{row} {column}");
            }
            let share = number(&pair[1], "share of false links, the truth", column).unwrap();
            let truth = if column == "clean" { 0.0 } else { 0.1 / 1.1 };
            assert!((share - truth).abs() < 0.01, "{share} {truth}");
        }
        assert_eq!(number(&pair[0], "Linkproof, fit", "+30% uniform"), None);
        let vectors = number(&pair[0], "data vectors alone", "30% removed");
        assert_eq!(vectors.is_none(), views);
        let recommended = cell(&pair[1], "runs in which embeddings are smoothed", "clean");
        assert!(recommended["mean"].is_number());
    }
    for name in ["data", "blocks", "bloggers", "views"] {
        assert!(lab.read(&format!("c/{name}.svg")).contains("10% at 100"));
    }
    // Tables of what is there, without work; and a part more.
    let again = lab.json(&format!("{line} --only-tables"));
    assert_eq!(again["tables"], found["tables"]);
    let more = lab.json(&format!(
        "{line} --damage u30 --graphs blocks --methods plain"
    ));
    let tables = more["tables"].as_array().unwrap();
    assert!(number(&tables[2], "Linkproof, fit", "+30% uniform").is_some());
    assert_eq!(
        number(&tables[2], "Linkproof, fit --robust", "+30% uniform"),
        None
    );
    assert_eq!(tables[0], found["tables"][0]);
}

#[test]
fn rivals_of_the_contamination_suite_get_their_data() {
    let lab = with_data();
    with_rivals(&lab);
    let line = "reproduce contamination --data data --quick --runs 1 --damage clean,u30 --rivals rivals --only-rivals --threads 1 --out c";
    let output = lab.run(line);
    // One fails, and one gives too few rows for the block model.
    assert_eq!(output.status.code(), Some(1));
    let found = json(&lab, "c/contamination.json");
    let tables = found["tables"].as_array().unwrap();
    for row in ["Same rows", "Without weights"] {
        let same = cell(&tables[0], row, "+30% uniform");
        assert!(same["mean"].is_number(), "{same}");
        assert!(cell(&tables[2], row, "+30% uniform").is_null());
    }
    assert!(
        !lab.path("c/rivals/embeddings/rival-gae-data-u30-run0.npy")
            .exists()
    );
    assert_eq!(cell(&tables[6], "Two views", "clean")["mean"], 100.0);
    let failures = found["failures"].as_array().unwrap();
    assert!(
        failures
            .iter()
            .any(|f| f["reason"].as_str().unwrap().contains("120 nodes"))
    );
    // Anew: the data are written again, for the new seed.
    let links = || lab.read("c/rivals/data/views-clean-run0/links.csv");
    let before = links();
    lab.run(&format!("{line} --seed 5"));
    assert_eq!(links(), before, "refused without --force");
    lab.run(&format!("{line} --seed 5 --force"));
    assert_ne!(links(), before);
}

#[test]
fn wrong_requests_are_refused() {
    let lab = with_data();
    lab.refused(
        "reproduce table2 --out t",
        &["--data", "datasets fetch cora"],
    );
    lab.refused(
        "reproduce table1 --runs 0 --out t",
        &["--runs 0", "1 or more"],
    );
    lab.refused("reproduce table9 --out t", &["table9", "table1"]);
    lab.refused(
        "reproduce contamination --damage u31 --out t",
        &["--damage u31", "u30"],
    );
    lab.refused(
        "reproduce contamination --graphs cora --out t",
        &["--graphs cora", "blocks"],
    );
    lab.refused(
        "reproduce table1 --methods plain --out t",
        &["--methods plain", "table1"],
    );
    lab.refused(
        "reproduce contamination --data data --data ./data --out t",
        &["--data ./data", "rename"],
    );
    lab.refused("reproduce table1 --out data", &["--out data", "not empty"]);
    lab.refused(
        "reproduce table2 --data data --rivals nowhere --out t",
        &["--rivals nowhere", "setup"],
    );
    lab.refused(
        "reproduce table2 --data nowhere --out t",
        &["nowhere", "edges.csv"],
    );
    std::fs::remove_file(lab.path("data/labels.csv")).unwrap();
    lab.refused("reproduce table2 --data data --out t", &["labels.csv"]);
}
