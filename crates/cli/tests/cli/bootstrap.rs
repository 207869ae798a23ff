//! `linkproof fit --bootstrap` and what reads it.

use crate::lab::Lab;

#[test]
fn a_model_says_how_sure_it_is() {
    let lab = Lab::with_graph();
    let text = lab.ok("fit --links links.csv --features x.csv --dim 3 --bootstrap 12 --out m");
    assert!(text.contains("12 fits to parts of the nodes"), "{text}");
    let links = lab.read("links.csv");
    let ends: Vec<&str> = links.lines().nth(1).unwrap().split(',').collect();
    lab.write("pairs.csv", format!("{},{}\n", ends[0], ends[1]));
    lab.ok("score --model m --pairs pairs.csv --out s.csv");
    let scored = lab.read("s.csv");
    let mut lines = scored.lines();
    let head = "src,dst,p_link,size,mu,log_mu_error,mu_low,mu_high";
    assert_eq!(lines.next(), Some(head));
    let row: Vec<&str> = lines.next().unwrap().rsplit(',').collect();
    let [high, low, error, mu] =
        [0, 1, 2, 3].map(|place: usize| row[place].parse::<f64>().unwrap());
    assert!(error > 0.0 && low < mu && mu < high, "{scored}");
    lab.ok("neighbors --model m --node n0 --top 3 --out n.csv");
    assert!(
        lab.read("n.csv")
            .starts_with("node,neighbor,rank,mu,stability\n")
    );
    lab.ok("cluster --embeddings m/embeddings.npy --model m --clusters 2 --out c.csv");
    assert!(lab.read("c.csv").starts_with("node,cluster,stability\n"));
    lab.ok("audit --model m --links links.csv --features x.csv --out a.csv");
    assert!(
        lab.read("a.csv")
            .lines()
            .next()
            .unwrap()
            .ends_with(",false_discovery_rate,log_mu_error")
    );
}

#[test]
fn models_without_replicates_and_bad_numbers_are_refused() {
    let lab = Lab::with_graph();
    lab.ok("fit --links links.csv --features x.csv --dim 3 --out m");
    let cluster = "cluster --embeddings m/embeddings.npy --model m --clusters 2 --out c.csv";
    lab.refused(cluster, &["no replicates", "--bootstrap"]);
    let fit = "fit --links links.csv --features x.csv --dim 3 --out m2 --bootstrap";
    lab.refused(&format!("{fit} 2"), &["at least 5"]);
    lab.refused(&format!("{fit} -1"), &["--bootstrap"]);
    lab.refused(&format!("{fit} 4 --robust"), &["at least 5"]);
}

#[test]
fn robust_directed_and_offset_models_say_it_too() {
    let lab = Lab::with_graph();
    let links = lab.read("links.csv");
    let ends: Vec<&str> = links.lines().nth(1).unwrap().split(',').collect();
    lab.write("pairs.csv", format!("{},{}\n", ends[0], ends[1]));
    for how in [
        "--robust",
        "--directed",
        "--offsets",
        "--directed --offsets --ridge 1",
    ] {
        let fit = format!("fit --links links.csv --features x.csv --dim 3 {how} --bootstrap 6");
        lab.ok(&format!("{fit} --report --out m --force"));
        lab.ok("score --model m --pairs pairs.csv --out s.csv");
        let scored = lab.read("s.csv");
        let row: Vec<&str> = scored.lines().nth(1).unwrap().rsplit(',').collect();
        let [high, low, error, mu] =
            [0, 1, 2, 3].map(|place: usize| row[place].parse::<f64>().unwrap_or(f64::NAN));
        // A pair is told by replicates that saw both of its nodes.
        if !row[2].contains('"') {
            assert!(error > 0.0 && low <= mu && mu <= high, "{how}: {scored}");
        }
        lab.ok("neighbors --model m --node n0 --top 3 --out n.csv");
        assert!(
            lab.read("n.csv")
                .starts_with("node,neighbor,rank,mu,stability\n")
        );
        lab.ok("cluster --embeddings m/embeddings.npy --model m --clusters 2 --out c.csv");
        assert!(lab.read("c.csv").starts_with("node,cluster,stability\n"));
        lab.ok("audit --model m --links links.csv --features x.csv --out a.csv");
        let audit = lab.read("a.csv");
        assert!(
            audit.lines().next().unwrap().ends_with(",log_mu_error"),
            "{how}"
        );
    }
}
