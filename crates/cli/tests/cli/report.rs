//! `report`, and `fit --report` and `--plot`.

use serde_json::Value;

use crate::lab::Lab;

/// The data inside a page.
fn data(page: &str) -> Value {
    let start = "<script type=\"application/json\" id=\"data\">";
    let (_, rest) = page.split_once(start).expect("the page has data");
    let (json, _) = rest.split_once("</script>").expect("which end");
    serde_json::from_str(json).expect("and are JSON")
}

/// How many numbers an array of a page has.
fn length(array: &Value) -> usize {
    let (kind, text) = array.as_object().unwrap().iter().next().unwrap();
    let text = text.as_str().unwrap();
    let bytes = text.len() / 4 * 3 - text.chars().rev().take_while(|&c| c == '=').count();
    bytes / if kind == "u8" { 1 } else { 4 }
}

#[test]
fn a_page_holds_everything_and_asks_for_nothing() {
    let lab = Lab::with_graph();
    lab.ok("fit --links links.csv --features x.csv --labels labels.csv --dim 8 --quiet --out m");
    let said = lab.json("report m");
    assert!(said["out"].as_str().unwrap().ends_with("report.html"));
    let page = lab.read("m/report.html");
    assert_eq!(said["bytes"], page.len());
    lab.ok("report --model m --out other.html");
    assert_eq!(lab.read("other.html").len(), page.len());
    lab.refused("report", &["<DIR>"]);
    lab.refused("report m --model m", &["--model"]);
    for outside in ["src=\"http", "href=\"http", "@import", "url(http", "{{"] {
        assert!(!page.contains(outside), "{outside}");
    }
    let data = data(&page);
    assert_eq!(data["title"], "m");
    assert_eq!(data["nodes"]["n"], 60);
    assert_eq!(data["nodes"]["ids"][7], "n7");
    assert_eq!(data["nodes"]["labels"].as_array().unwrap().len(), 3);
    for array in ["x", "y", "degree", "label", "cluster"] {
        assert_eq!(length(&data["nodes"][array]), 60, "{array}");
    }
    let links = data["links"]["n"].as_u64().unwrap() as usize;
    for array in ["src", "dst", "weight", "mu", "trust", "suspect"] {
        assert_eq!(length(&data["links"][array]), links, "{array}");
    }
    let command = data["command_line"].as_str().unwrap();
    assert!(command.contains("fit --links links.csv"), "{command}");
    assert_eq!(data["inputs"][0][0], "links.csv");
    assert_eq!(data["inputs"][0][1].as_str().unwrap().len(), 64);
    assert!(data["history"]["value"].as_array().unwrap().len() > 1);
    assert!(data["selection"].is_null());
    let sum = |name: &str| -> f64 {
        let bins = data["degrees"][name].as_array().unwrap();
        bins.iter().map(|bin| bin.as_f64().unwrap()).sum()
    };
    assert_eq!(sum("observed"), 60.0);
    assert!((sum("expected") - 60.0).abs() < 0.5, "{}", sum("expected"));
}

#[test]
fn a_page_shows_beliefs_and_what_became_of_planted_links() {
    let mut graph = crate::robust::graph();
    crate::robust::add_false(&mut graph, 60, 100.0);
    let lab = crate::robust::write(&graph);
    let fit = lab.json(&format!("{} --report --out m", crate::robust::FIT));
    let page = data(&lab.read("m/report.html"));
    let links = graph.links.len();
    for array in ["belief", "rank"] {
        assert_eq!(length(&page["links"][array]), links, "{array}");
    }
    assert_eq!(page["links"]["why"].as_array().unwrap().len(), links);
    assert!(page["links"]["suspects"].as_u64().unwrap() >= 50);
    assert_eq!(page["verdict"]["said"], fit["verdict"]);
    assert_eq!(page["verdict"]["detection"], fit["robust"]["detection"]);
    assert_eq!(page["verdict"]["detection"].as_array().unwrap().len(), 3);
    // Where the judge abstains, the page says so and has no beliefs.
    let lab = crate::robust::write(&crate::robust::noise());
    lab.ok(&format!("{} --report --quiet --out m", crate::robust::FIT));
    let page = data(&lab.read("m/report.html"));
    assert!(page["links"]["belief"].is_null());
    let said = |page: &Value, place: usize| {
        let said = &page["verdict"]["said"][place]["says"];
        said.as_str().unwrap().to_owned()
    };
    let links = said(&page, 1);
    assert!(links.contains("look random"), "{links}");
    // A plain fit says so of the links alone.
    lab.ok("fit --links links.csv --dim 4 --report --quiet --out p");
    let page = data(&lab.read("p/report.html"));
    let links = said(&page, 1);
    assert!(links.contains("look random"), "{links}");
}

/// Robust scores have one exponent, and the likelihood has none.
#[test]
fn facts_name_beta_once_or_not_at_all() {
    let lab = Lab::with_graph();
    for (score, times) in [("likelihood", 0), ("moment", 1), ("probability", 1)] {
        lab.ok(&format!(
            "fit --links links.csv --dim 2 --score {score} --report --layout pca --quiet --out {score}"
        ));
        let data = data(&lab.read(&format!("{score}/report.html")));
        let facts = data["facts"].as_array().unwrap();
        let betas = facts.iter().filter(|fact| fact[0] == "beta").count();
        assert_eq!(betas, times, "{score}");
    }
}

#[test]
fn a_fit_writes_page_and_picture_at_once() {
    let lab = Lab::with_graph();
    let line = "fit --links links.csv --features x.csv --dim 3 --select --score likelihood \
                --report --plot nodes.svg --layout pca --quiet --out m";
    lab.ok(line);
    let data = data(&lab.read("m/report.html"));
    assert!(data["layout"].as_str().unwrap().contains("PCA"));
    let candidates = data["selection"]["candidates"].as_array().unwrap();
    let chosen = candidates
        .iter()
        .filter(|one| one["chosen"] == true)
        .count();
    assert_eq!(chosen, 1);
    assert!(lab.read("nodes.svg").contains("<circle"));
    lab.ok("fit --links links.csv --dim 2 --quiet --out n --plot n/nodes.svg");
    assert!(lab.path("n/nodes.svg").exists() && lab.path("n/fit.json").exists());
}

#[test]
fn pages_have_the_same_bytes_at_any_number_of_threads() {
    let lab = Lab::with_graph();
    lab.ok("fit --links links.csv --features x.csv --dim 8 --quiet --out m");
    lab.ok("report m --threads 1 --quiet --out one.html");
    lab.ok("report m --threads 2 --quiet --out two.html");
    assert!(lab.bytes("one.html") == lab.bytes("two.html"));
    lab.ok("report m --seed 5 --quiet --out other.html");
    assert!(lab.bytes("one.html") != lab.bytes("other.html"));
}

#[test]
fn hostile_names_stay_text() {
    let lab = Lab::new();
    let hostile = "</script><script>alert(1)</script>";
    let mut links = String::from("src,dst\n");
    for node in 0..20 {
        links.push_str(&format!("\"{hostile}\",{node}\n"));
    }
    lab.write("links.csv", links);
    lab.write(
        "labels.csv",
        format!("node,label\n0,<img src=x onerror=alert(1)>\n1,\"{hostile}\"\n"),
    );
    lab.ok("fit --links links.csv --labels labels.csv --dim 2 --quiet --report --out <b>m");
    let page = lab.read("<b>m/report.html");
    assert!(!page.contains("alert(1)</script>") && !page.contains("<img src=x"));
    assert!(!page.contains("<b>m"), "the title is escaped");
    assert_eq!(data(&page)["nodes"]["ids"][0], hostile);
}

#[test]
fn what_cannot_be_shown_is_refused() {
    let lab = Lab::with_graph();
    lab.refused("report nothing", &["nothing"]);
    lab.ok("fit --links links.csv --dim 2 --quiet --out m");
    lab.refused("report m --labels none.csv", &["none.csv"]);
    lab.refused("report m --plot nodes.png", &["--plot", "ends in .svg"]);
    lab.refused(
        "report m --out a.svg --plot a.svg",
        &["a.svg", "written twice"],
    );
    lab.refused("report m --layout best", &["--layout", "best"]);
    lab.write("others.csv", "node,label\nstranger,a\n");
    lab.refused("report m --labels others.csv", &["others.csv", "stranger"]);
    lab.write("m/links.parquet", "broken");
    lab.refused("report m", &["links.parquet"]);
}
