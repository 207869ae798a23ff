//! `linkproof inspect`: what it says of data, and what it refuses.

use std::fmt::Write;

use serde_json::Value;

use crate::lab::{Lab, Numbers};

/// 2,000 links between 500 nodes, with the weights that `weight` gives.
fn weighted(lab: &Lab, mut weight: impl FnMut(&mut Numbers, usize) -> f64) {
    let mut random = Numbers::new(3);
    let mut text = "src,dst,weight\n".to_owned();
    for place in 0..2000 {
        let (i, step) = (place % 500, 1 + place / 500);
        let weight = weight(&mut random, place);
        writeln!(text, "n{i},n{},{weight}", (i + step * step) % 500).unwrap();
    }
    lab.write("weighted.csv", text);
}

/// What a person reads, with every gap between words one space.
fn words(lab: &Lab, line: &str) -> String {
    let text = lab.ok(line);
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

fn without_times(mut report: Value) -> Value {
    for solver in report["solvers"].as_array_mut().unwrap() {
        for name in ["seconds_per_step", "seconds", "most_seconds"] {
            let seconds = solver.as_object_mut().unwrap().remove(name).unwrap();
            assert!(seconds.as_f64().unwrap() > 0.0, "{name}");
        }
    }
    report.as_object_mut().unwrap().remove("threads").unwrap();
    report
}

#[test]
fn the_report_counts_what_the_files_hold() {
    let lab = Lab::with_graph();
    let found = lab.json("inspect --links links.csv --features x.csv --dim 4");
    let fit = lab.json("fit --links links.csv --features x.csv --dim 4 --out m");
    for name in ["nodes", "links", "dim"] {
        assert_eq!(found[name], fit[name], "{name}");
    }
    assert_eq!(found["pairs"], 60 * 59 / 2);
    assert_eq!(found["views"][0]["vectors"]["dim"], 5);
    assert_eq!(found["weights"]["all_equal"], true);
    assert_eq!(found["advice"]["score"], "moment");
    let defaults = found["solvers"].as_array().unwrap().iter();
    let defaults: Vec<&Value> = defaults.filter(|s| s["is_default"] == true).collect();
    let fitted: Value = serde_json::from_str(&lab.read("m/fit.json")).unwrap();
    assert_eq!(defaults.len(), 1);
    for name in ["solver", "optimizer"] {
        assert_eq!(defaults[0][name], fitted["plan"][name], "{name}");
        assert_eq!(defaults[0][name], found["advice"][name]);
    }
    let text = words(&lab, "inspect --links links.csv --features x.csv");
    for what in [
        "60 nodes and ",
        "components ",
        "all equal 1",
        "exact lbfgs",
        "or a plain one linkproof fit --links links.csv --features x.csv --robust",
    ] {
        assert!(text.contains(what), "{what} in\n{text}");
    }
    assert_eq!(lab.ok("inspect --links links.csv --quiet"), "");
}

#[test]
fn the_same_data_give_the_same_report_at_any_number_of_threads() {
    let lab = Lab::with_graph();
    let look = |threads: usize| {
        let line = format!("inspect --links links.csv --features x.csv --threads {threads}");
        without_times(lab.json(&line))
    };
    assert_eq!(look(1), look(2));
}

#[test]
fn the_command_to_run_next_runs() {
    let lab = Lab::new();
    weighted(&lab, |_, place| if place % 100 == 0 { 90.0 } else { 1.0 });
    lab.write(
        "it's odd.csv",
        lab.read("weighted.csv") + "n0,n0,1\nn3,n4,1\n",
    );
    let mut look = lab.command("inspect --dim 3 --self-links drop --duplicates max --json");
    look.args(["--links", "it's odd.csv"]);
    let output = look.output().unwrap();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let command = found["command"].as_str().unwrap();
    let fit = r"linkproof fit --links 'it'\''s odd.csv' --duplicates max --self-links drop --dim 3";
    assert_eq!(command, format!("{fit} --robust --out model"));
    let plain = found["plain_command"].as_str().unwrap();
    let settings = "--score probability --beta 0.1 --weights asis";
    assert_eq!(plain, format!("{fit} {settings} --out model"));
    assert_eq!(found["read"]["self_links"], 1);
    assert_eq!(found["read"]["merged"], 1);
    lab.write("weighted.csv", lab.read("it's odd.csv"));
    for typed in [command, &format!("{plain} --force")] {
        let typed = typed.strip_prefix("linkproof ").unwrap();
        lab.ok(&typed.replace(r"'it'\''s odd.csv'", "weighted.csv"));
    }
    assert!(lab.path("model/embeddings.npy").exists());
}

#[test]
fn corrupted_weights_and_heavy_tails_are_told_apart() {
    let lab = Lab::new();
    weighted(&lab, |random, place| match place % 50 {
        0 => 500.0,
        _ => 1.0 + (3.0 * random.next()).floor(),
    });
    let found = lab.json("inspect --links weighted.csv --dim 2");
    let impossible = &found["weights"]["impossible"];
    assert_eq!(impossible["count"], 40);
    assert_eq!(impossible["tail"], "isolated");
    assert_eq!(impossible["heaviest"][4]["weight"], 500.0);
    assert_eq!(found["advice"]["score"], "probability");
    let text = words(&lab, "inspect --links weighted.csv --dim 2");
    for what in [
        "40 weights (2%)",
        " -- ",
        "may be errors",
        "--weights log1p",
    ] {
        assert!(text.contains(what), "{what} in\n{text}");
    }

    weighted(&lab, |random, _| (2.0 / random.next()).floor());
    let found = lab.json("inspect --links weighted.csv --dim 2");
    assert_eq!(found["weights"]["impossible"]["tail"], "smooth");
    assert_eq!(found["advice"]["weights"], "log1p");
    assert!(
        found["plain_command"]
            .as_str()
            .unwrap()
            .contains("--weights log1p")
    );
}

#[test]
fn views_and_isolated_nodes_are_listed() {
    let lab = Lab::new();
    lab.write("links.csv", "a,x,1\nb,x,2\na,b,1\n");
    lab.write("nodes.csv", "node,view\na,user\nx,item\nb,user\ny,item\n");
    lab.write("u.csv", "a,1,0\nb,0,0\n");
    let line = "inspect --links links.csv --nodes nodes.csv --features user=u.csv";
    let found = lab.json(line);
    assert_eq!(found["views"][0]["name"], "user");
    assert_eq!(found["views"][0]["vectors"]["zero"], 1);
    assert_eq!(found["views"][1]["vectors"], Value::Null);
    assert_eq!(found["isolated"]["examples"][0], "y");
    assert_eq!(found["isolated"]["without_vectors"], 1);
    let pairs = found["view_pairs"].as_array().unwrap();
    let pairs: Vec<_> = pairs
        .iter()
        .map(|pair| (&pair["links"], &pair["pairs"]))
        .collect();
    assert_eq!(pairs, [(&1.into(), &1.into()), (&2.into(), &4.into())]);
    let command = found["command"].as_str().unwrap();
    let files = "--links links.csv --features user=u.csv --nodes nodes.csv";
    assert!(command.contains(files), "{command}");
    let text = words(&lab, line);
    for what in [
        "view user",
        "user:item",
        "neither links nor features",
        "1 node: y",
    ] {
        assert!(text.contains(what), "{what} in\n{text}");
    }
}

#[test]
fn what_a_fit_refuses_is_refused() {
    let lab = Lab::new();
    lab.write("zero.csv", "a,b,0\nb,c,0\n");
    lab.write("text.csv", "a,b,1\nb,c,many\n");
    lab.write("twice.csv", "a,b,1\na,b,2\n");
    lab.write("self.csv", "a,b,1\na,a,2\n");
    lab.write("good.csv", "a,b,1\nb,c,2\n");
    lab.write("x.csv", "a,1,2\nb,3,4\n");
    lab.write("empty.csv", "");
    lab.refused("inspect --links zero.csv", &["no links"]);
    lab.refused("inspect --links text.csv", &["text.csv, line 2", "many"]);
    lab.refused("inspect --links twice.csv", &["--duplicates"]);
    lab.refused("inspect --links self.csv", &["--self-links drop"]);
    lab.refused("inspect --links none.csv", &["none.csv"]);
    lab.refused("inspect --links empty.csv", &["empty.csv"]);
    lab.refused(
        "inspect --links good.csv --features x.csv",
        &["good.csv, line 2", "'c'"],
    );
    lab.refused("inspect --links good.csv --dim 0", &["dim", "1 to 65536"]);
    lab.refused("inspect", &["--links"]);
    // A single link is enough.
    lab.write("one.csv", "a,b,3\n");
    let found = lab.json("inspect --links one.csv");
    assert_eq!(found["links"], 1);
    assert_eq!(found["advice"]["weights"], "binary");
}

#[test]
fn links_that_follow_data_vectors_and_links_that_do_not_are_told_apart() {
    let graph = crate::robust::graph();
    let lab = crate::robust::write(&graph);
    let line = "inspect --links links.csv --features x.csv --dim 4";
    let found = lab.json(line);
    assert_eq!(
        found["agreement"]["relation"], "agree",
        "{}",
        found["agreement"]
    );
    assert_eq!(found["agreement"]["vectors_alone"], false);
    assert!(words(&lab, line).contains("Features and links agree: "));
    // The same nodes, whose links join anything with anything.
    let other = crate::robust::noise();
    lab.write(
        "links.csv",
        crate::lab::links_csv(&other.links, crate::robust::name),
    );
    let found = lab.json(line);
    let text = words(&lab, line);
    assert_eq!(
        found["agreement"]["relation"], "unrelated",
        "{}",
        found["agreement"]
    );
    assert!(
        text.contains("k-means on the features alone is the better choice"),
        "{text}"
    );
    assert!(text.contains("linkproof cluster --features"), "{text}");
    let says = found["says"].as_array().unwrap().last().unwrap();
    assert_eq!(says.as_str().unwrap(), {
        let from = text.find("Features and links have").unwrap();
        let to = text[from..].find(" Estimated cost").unwrap();
        &text[from..from + to]
    });
    // Links alone have nothing to agree with.
    assert_eq!(
        lab.json("inspect --links links.csv")["agreement"],
        Value::Null
    );
}
