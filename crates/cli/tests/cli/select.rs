//! `linkproof select` and `fit --select`.

use crate::lab::Lab;

const DATA: &str = "--links links.csv --features x.csv --dim 2";
const GRID: &str = "--scores likelihood,probability --betas 0.1 --ridges 0.1,1,10,100";

#[test]
fn a_search_is_told_in_every_form() {
    let lab = Lab::with_graph();
    let line = format!("select {DATA} {GRID} --out chosen.toml --table t.csv");
    let found = lab.json(&line);
    for field in ["score", "beta", "ridge", "chosen", "criterion", "warnings"] {
        assert!(!found[field].is_null(), "{field}: {found}");
    }
    assert_eq!(found["criterion"], "rank");
    let compared = found["compared"].as_str().unwrap();
    assert!(compared.contains("separate held-out links"), "{compared}");
    assert_eq!(found["weights"], "asis");
    assert_eq!(found["chosen"]["ridge"], found["ridge"]);
    let candidates = found["candidates"].as_array().unwrap();
    assert_eq!(candidates.len(), 8);
    let best = candidates
        .iter()
        .find(|one| one["score"] == found["score"] && one["ridge"] == found["ridge"])
        .unwrap();
    // As good as the best, which may have a smaller ridge.
    let number = |field: &str| best[field].as_f64().unwrap();
    let band = number("standard_error").max(0.005);
    assert!(number("behind") <= band, "{best}");
    assert!(found["tied"].as_u64().unwrap() >= 1, "{found}");
    assert_eq!(best["folds"].as_array().unwrap().len(), 5);
    assert_eq!(lab.read("t.csv").lines().count(), 9);
    assert!(lab.read("t.csv").starts_with("score,beta,ridge,"));
    // The choice is a configuration that a fit takes.
    let config = lab.read("chosen.toml");
    assert!(
        config.contains(&format!("score = {}", found["score"])),
        "{config}"
    );
    let fitted = lab.json("fit --links links.csv --features x.csv --config chosen.toml --out m");
    assert_eq!(
        (&fitted["score"], &fitted["ridge"]),
        (&found["score"], &found["ridge"])
    );
    assert_eq!(fitted["dim"], 2);
    // And `fit --select` does both at once, with the same bits.
    let given = "--score likelihood --ridge 3";
    lab.ok(&format!("select {DATA} {given} --quiet --out given.toml"));
    let fit = "fit --links links.csv --features x.csv";
    lab.ok(&format!(
        "{fit} --config given.toml --quiet --out m --force"
    ));
    lab.ok(&format!("fit {DATA} {given} --select --quiet --out both"));
    assert_eq!(
        lab.bytes("m/embeddings.npy"),
        lab.bytes("both/embeddings.npy")
    );
    assert!(lab.read("both/fit.json").contains("\"selection\""));
    let words = lab.ok(&format!("select {DATA} {GRID}"));
    for part in [
        "Chosen: ",
        "linkproof fit",
        "compared by how well embeddings",
        "told apart",
    ] {
        assert!(words.contains(part), "{part}: {words}");
    }
    let line = format!("select {DATA} {GRID} --quiet --out all.json");
    lab.ok(&line);
    assert!(lab.read("all.json").contains("\"candidates\""));
}

#[test]
fn the_unit_of_weights_does_not_matter() {
    let lab = Lab::with_graph();
    let links = lab.read("links.csv");
    // Each link with a weight, in two units.
    let weighted = |unit: f64| {
        let lines = links.lines().enumerate().map(|(place, line)| {
            let ends: Vec<&str> = line.split(',').take(2).collect();
            let weight = unit * (1 + place % 4) as f64;
            match ends[0] {
                "src" => "src,dst,weight\n".to_owned(),
                _ => format!("{},{},{weight}\n", ends[0], ends[1]),
            }
        });
        lines.collect::<String>()
    };
    lab.write("light.csv", weighted(0.001));
    lab.write("heavy.csv", weighted(1000.0));
    let line = |file: &str| format!("select --links {file} --features x.csv --dim 2 {GRID}");
    let (light, heavy) = (lab.json(&line("light.csv")), lab.json(&line("heavy.csv")));
    assert_eq!(light["chosen"], heavy["chosen"]);
    assert_eq!(light["candidates"], heavy["candidates"]);
    assert_eq!(light["weights"], "binary");
    let words = lab.ok(&line("heavy.csv"));
    for part in ["every link counts 1", "--weights binary --out model"] {
        assert!(words.contains(part), "{part}: {words}");
    }
    lab.ok(&format!("{} --out chosen.toml", line("heavy.csv")));
    assert!(lab.read("chosen.toml").contains("weights = \"binary\""));
    for kept in ["--weights asis", "--criterion probability:0.5"] {
        let found = lab.json(&format!("{} {kept}", line("heavy.csv")));
        assert_eq!(found["weights"], "asis", "{kept}");
    }
}

#[test]
fn what_is_given_is_not_searched_over() {
    let lab = Lab::with_graph();
    let found = lab.json(&format!(
        "select {DATA} --ridge 3 --score moment --beta 0.2"
    ));
    assert_eq!(found["candidates"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&found["score"], &found["ridge"]),
        (&"moment".into(), &3.0.into())
    );
    let found = lab.json(&format!(
        "select {DATA} --ridge 3 --scores likelihood --dims 2,3 --walk-lengths 0,2 --step-limits 5,50"
    ));
    assert_eq!(found["candidates"].as_array().unwrap().len(), 8);
    assert!(found["steps"].is_u64());
    let found = lab.json(&format!(
        "select {DATA} --hold-out nodes --scores likelihood --folds 3"
    ));
    assert_eq!(found["hold_out"], "nodes");
}

#[test]
fn searches_that_cannot_be_are_refused() {
    let lab = Lab::with_graph();
    for (options, what) in [
        ("--ridges", ["ridges", "at least one"]),
        ("--scores moment --betas", ["betas", "at least one"]),
        ("--scores", ["scores", "at least one"]),
        ("--scores best", ["--scores", "'best'"]),
        ("--ridges 1,-1", ["ridge", "-1"]),
        ("--betas 0.1,nan", ["beta", "NaN"]),
        ("--folds 1", ["folds", "2 to 100"]),
        ("--criterion auc", ["--criterion", "auc"]),
        ("--criterion moment:x", ["--criterion", "'x'"]),
    ] {
        lab.refused(&format!("select {DATA} {options} --out c.toml"), &what);
    }
    for options in ["--ridges 1,2", "--criterion rank"] {
        let option = options.split(' ').next().unwrap();
        lab.refused(&format!("fit {DATA} {options} --out m"), &[option]);
    }
    lab.refused(
        "select --links links.csv --hold-out nodes",
        &["hold-out", "no data vectors"],
    );
    lab.refused(
        &format!("select {DATA} --hold-out nodes --encoder table"),
        &["hold-out", "has a table"],
    );
    lab.write("few.csv", "a,b,1\nb,c,1\nc,d,1\n");
    lab.refused("select --links few.csv", &["3 of them", "--folds"]);
    lab.refused("fit --links few.csv --select --out m", &["3 of them"]);
    lab.write("zero.csv", "a,b,0\nb,c,0\n");
    lab.refused("select --links zero.csv", &["zero.csv", "no links"]);
}

#[test]
fn a_candidate_that_diverges_is_skipped() {
    let lab = Lab::with_graph();
    let steps = "--solver exact --optimizer sgd --learning-rate 0.01 --steps 100 --validation 0";
    let line = format!("select {DATA} --scores likelihood {steps}");
    let found = lab.json(&format!("{line} --ridges 1,1e9"));
    assert_eq!(found["ridge"], 1.0);
    let failed = &found["candidates"][0];
    assert!(failed["failure"].as_str().unwrap().contains("diverged"));
    lab.ends_with(
        1,
        &format!("{line} --ridges 1e9"),
        &["diverged", "none of 1"],
    );
}
