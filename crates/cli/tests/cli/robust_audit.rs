//! `linkproof audit` with its judge.

use crate::robust::{FIT, add_false, by_ends, graph, name, noise, number, rows, write};

const COLUMNS: &str = "src,dst,weight,mu,trust,influence,surprise,fdr,suspect,cosine,belief,\
    false_discovery_rate,rank,rank_embeddings,rank_averages,rank_data_vectors,\
    rank_common_neighbors,weight_odds,weight_fdr,why";

#[test]
fn false_links_come_first_and_clean_keeps_by_a_stated_rate() {
    let mut graph = graph();
    let wrong = add_false(&mut graph, 200, 1.0);
    let lab = write(&graph);
    lab.ok(&format!("{FIT} --quiet --out m"));
    let line = "audit --model m --links links.csv --features x.csv --out a.csv";
    let found = lab.json(&format!(
        "{line} --clean kept.csv --false-discovery-rate 0.3"
    ));
    assert_eq!(
        (&found["abstained"], &found["ordered_by"]),
        (&false.into(), &"belief".into())
    );
    let truth = wrong.len() as f64 / graph.links.len() as f64;
    let share = found["share_false"].as_f64().unwrap();
    assert!((share - truth).abs() < 0.1, "{share} {truth}");
    let kinds: Vec<&str> = found["implanted"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["kind"].as_str().unwrap())
        .collect();
    for kind in ["uniform", "by-degree", "similar"] {
        assert!(kinds.contains(&kind), "{kinds:?}");
    }
    let text = lab.read("a.csv");
    assert_eq!(text.lines().next(), Some(COLUMNS));
    let table = rows(&text);
    assert_eq!(table.len(), graph.links.len());
    let beliefs: Vec<f64> = table.iter().map(|row| number(&row[10])).collect();
    assert!(beliefs.is_sorted() && beliefs.iter().all(|b| (0.0..=1.0).contains(b)));
    let rates: Vec<f64> = table.iter().map(|row| number(&row[11])).collect();
    assert!(rates.is_sorted());
    let is_wrong = |row: &Vec<String>| {
        let node = |text: &str| text[5..].parse::<usize>().unwrap();
        let (a, b) = (node(&row[0]), node(&row[1]));
        wrong.contains(&(a.min(b), a.max(b)))
    };
    let first = table[..120].iter().filter(|row| is_wrong(row)).count();
    assert!(first > 108, "{first}");
    // Suspects are those down to the rate, and clean is the rest.
    let suspects = found["suspects"].as_u64().unwrap() as usize;
    assert_eq!(suspects, rates.iter().filter(|rate| **rate <= 0.3).count());
    assert!(suspects > 50, "{suspects}");
    let why = |row: &Vec<String>| (number(&row[8]) == 1.0, row[19].clone());
    let whys: Vec<_> = table.iter().map(why).collect();
    assert!(
        whys.iter()
            .all(|(suspect, why)| *suspect == (why == "belief")),
        "{whys:?}"
    );
    assert_eq!(rows(&lab.read("kept.csv")).len(), table.len() - suspects);
    // All weigh the same.
    let shares =
        ["suspect_share", "suspect_weight_share"].map(|name| found[name].as_f64().unwrap());
    let share = suspects as f64 / table.len() as f64;
    assert!(
        shares.iter().all(|it| (it - share).abs() < 1e-9),
        "{shares:?} {share}"
    );
    let says: Vec<&str> = found["verdict"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["says"].as_str().unwrap())
        .collect();
    assert!(says[0].contains("are doubtful"), "{says:?}");
    // By trust, as ever.
    let line = format!("{line} --clean k.csv");
    let found = lab.json(&format!("{line} --min-trust 0"));
    assert_eq!(
        (&found["suspects"], &found["min_trust"]),
        (&0.into(), &0.0.into())
    );
    let words = lab.ok(&format!("{line} --false-discovery-rate 0.3"));
    for part in [
        "links are doubtful",
        "least believed first",
        "false links put in by degree",
        "% of the links and ",
        "% of the weight)",
    ] {
        assert!(words.contains(part), "{words}");
    }
    assert!(!words.contains("No link can be called false"), "{words}");
    // Where none can be called false at a rate, it is said at what rate some can.
    let words = lab.ok(&format!("{line} --false-discovery-rate 1e-7"));
    let words: Vec<&str> = words.split_whitespace().collect();
    let words = words.join(" ");
    let rate = (100.0 * rates[0]).ceil() / 100.0;
    let count = rates.iter().filter(|&&it| it <= rate).count();
    for part in [
        "No link can be called false at".to_owned(),
        format!("Of the {count} least believed"),
        format!("--false-discovery-rate {rate} takes them"),
    ] {
        assert!(words.contains(&part), "{part}: {words}");
    }
    let found = lab.json(&format!("{line} --false-discovery-rate {rate}"));
    assert_eq!(found["suspects"], count);
}

#[test]
fn a_plain_model_and_one_without_its_data_vectors_are_judged_too() {
    let mut graph = graph();
    add_false(&mut graph, 60, 100.0);
    let lab = write(&graph);
    lab.ok("fit --links links.csv --features x.csv --dim 10 --quiet --out m");
    let line = "audit --model m --links links.csv";
    let found = lab.json(&format!("{line} --features x.csv --out a.csv"));
    assert_eq!(
        (&found["abstained"], &found["judged_by_links_alone"]),
        (&false.into(), &false.into())
    );
    assert_eq!(found["weights"]["says"], "against-heavy", "{found}");
    let first = rows(&lab.read("a.csv"));
    assert!(
        first[..60].iter().all(|row| row[2] == "100"),
        "{:?}",
        &first[..60]
    );
    // The unit does not matter.
    graph.links.iter_mut().for_each(|link| link.2 *= 1000.0);
    lab.write("links.csv", crate::lab::links_csv(&graph.links, name));
    lab.ok(&format!("{line} --features x.csv --out b.csv"));
    assert_eq!(by_ends(&first, 10), by_ends(&rows(&lab.read("b.csv")), 10));
    let found = lab.json(&format!("{line} --out c.csv"));
    assert_eq!(found["judged_by_links_alone"], true);
    let words = lab.ok(&format!("{line} --out c.csv"));
    assert!(words.contains("--features FILE"), "{words}");
    // Too few links to be judged.
    lab.write("few.csv", "node 0,node 3\nnode 0,node 1\n");
    let few = "audit --model m --links few.csv --out f.csv";
    assert!(lab.ok(few).contains("at least as many as folds"));
    let found = lab.json(few);
    assert_eq!(
        (&found["ordered_by"], &found["suspects"]),
        (&"trust".into(), &0.into())
    );
    assert!(found["share_false"].is_null() && found["not_judged"].is_string());
    // Nothing is known of them: all are believed alike.
    assert_eq!(found["abstained"], true);
    assert!(rows(&lab.read("f.csv")).iter().all(|row| row[9] == "0.9"));
}

#[test]
fn where_links_cannot_be_told_nothing_is_dropped() {
    let noise = noise();
    let lab = write(&noise);
    lab.ok("fit --links links.csv --features x.csv --dim 10 --quiet --out m");
    let line = "audit --model m --links links.csv --features x.csv --out a.csv --clean kept.csv \
                --false-discovery-rate 0.9";
    // What could not be judged is not called clean, unless that is asked for.
    let refused = lab.run(line);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        said.starts_with("error: --clean kept.csv: not written"),
        "{said}"
    );
    assert!(!lab.path("kept.csv").exists() && lab.path("a.csv").exists());
    let by_trust = lab.json(&format!("{line} --min-trust 0"));
    assert_eq!(by_trust["suspects"], 0);
    let line = &format!("{line} --force");
    let found = lab.json(line);
    assert_eq!(
        (&found["abstained"], &found["suspects"]),
        (&true.into(), &0.into())
    );
    assert_eq!(
        (&found["ordered_by"], &found["share_false"]),
        (&"trust".into(), &0.0.into())
    );
    assert_eq!(rows(&lab.read("kept.csv")).len(), noise.links.len());
    let trusts: Vec<f64> = rows(&lab.read("a.csv"))
        .iter()
        .map(|row| number(&row[4]))
        .collect();
    assert!(trusts.is_sorted() && trusts.len() == noise.links.len());
    assert!(lab.ok(line).contains("least trusted first"));
}
