//! What nodes and labels are called: kept, and shown beside ids.

use crate::lab::Lab;
use crate::robust::rows;

/// The small graph with a table of its nodes: ids as they are, names with odd letters.
fn lab() -> Lab {
    let lab = Lab::with_graph();
    let line = |node: usize| format!("n{node},Node {node},T{node},{}\n", 1900 + node);
    let nodes: String = (0..60).map(line).collect();
    lab.write("nodes.csv", format!("id,Name,title,born\n{nodes}"));
    let label = |node: usize| {
        let names = ["Apples", "Beans", ""];
        format!("n{node},{},{}\n", node % 3, names[node % 3])
    };
    let labels: String = (0..60).map(label).collect();
    lab.write("labels.csv", format!("node,label,label_name\n{labels}"));
    lab
}

const FIT: &str = "fit --links links.csv --features x.csv --nodes nodes.csv --dim 3 --steps 20";

#[test]
fn names_stand_beside_ids_in_all_that_is_written() {
    let lab = lab();
    lab.ok(&format!(
        "{FIT} --labels labels.csv --report --plot m.svg --out m"
    ));
    let nodes = lab.read("m/nodes.csv");
    assert!(
        nodes.starts_with("node,Name,title,born\nn0,Node 0,T0,1900\n"),
        "{nodes}"
    );
    let labels = lab.read("m/labels.csv");
    assert!(
        labels.starts_with("node,label,label_name\nn0,0,Apples\n"),
        "{labels}"
    );
    assert!(lab.read("m.svg").contains("Node "));
    let words = lab.ok("cluster --model m --clusters 3 --out c.csv");
    assert!(words.contains("nodes: Node "), "{words}");
    for line in ["--model m", "--embeddings m/embeddings.npy"] {
        lab.ok(&format!("cluster {line} --clusters 3 --out c.csv"));
        let clusters = rows(&lab.read("c.csv"));
        assert!(lab.read("c.csv").starts_with("node,cluster,name\nn0,"));
        assert_eq!((&*clusters[7][0], &*clusters[7][2]), ("n7", "Node 7"));
    }
    for name in ["Node 17", "Apples", "\"2\""] {
        assert!(lab.read("m/report.html").contains(name), "{name}");
    }

    let told = lab.ok("audit --model m --links links.csv --missing 3 --out a.csv");
    assert!(told.contains("Node "), "{told}");
    let audit = lab.read("a.csv");
    let head = audit.lines().next().unwrap();
    assert!(
        head.starts_with("rank,src,dst,src_name,dst_name,weight,belief,suspect,why,mu,"),
        "{head}"
    );
    let first = &rows(&audit)[0];
    let named = format!("Node {}", &first[1][1..]);
    assert_eq!(first[3], named, "{first:?}");
    assert!(
        lab.read("missing.csv")
            .starts_with("src,dst,mu,src_name,dst_name\n")
    );

    lab.ok("neighbors --model m --node n1 --top 2 --out n.csv");
    let near = lab.read("n.csv");
    assert!(
        near.starts_with("node,neighbor,rank,mu,name\nn1,n"),
        "{near}"
    );
    let told = lab.ok("neighbors --model m --node n1 --name title --top 2");
    assert!(told.starts_with("Nearest to T1 (n1), by cosine"), "{told}");
    lab.write("pairs.csv", "n1,n2\n");
    lab.ok("score --model m --pairs pairs.csv --out s.csv");
    let scores = lab.read("s.csv");
    assert!(
        scores.starts_with("src,dst,p_link,size,mu,src_name,dst_name\nn1,n2,"),
        "{scores}"
    );

    // A column of another name, chosen at the fit or later.
    lab.ok(&format!("{FIT} --name born --out b"));
    lab.ok("neighbors --model b --node n1 --top 1 --out n.csv");
    let near = rows(&lab.read("n.csv"));
    let year = 1900 + near[0][1][1..].parse::<usize>().unwrap();
    assert_eq!(near[0][4], year.to_string());
    let told = lab.ok("report b --name title --out b.html");
    assert!(told.contains("b.html") && lab.read("b.html").contains("\"T17\""));
}

#[test]
fn columns_that_are_not_there_are_named() {
    let lab = lab();
    for (line, words) in [
        (
            format!("{FIT} --name Title --out m"),
            ["--name", "'Name', 'title', 'born'"],
        ),
        (
            "fit --links links.csv --name born --out m".to_owned(),
            ["--nodes", "required"],
        ),
    ] {
        lab.refused(&line, &words);
    }
    lab.ok("fit --links links.csv --dim 2 --steps 5 --out m");
    let lines = [
        "report m --name x",
        "neighbors --model m --node n1 --name x",
        "audit --model m --links links.csv --name x --out a.csv",
    ];
    for line in lines {
        lab.refused(line, &["--name", "no column", "'x'"]);
    }
    // A person may add the column later.
    let nodes = lab.read("m/nodes.csv").replace('\n', ",Somebody\n");
    lab.write("m/nodes.csv", nodes.replacen("Somebody", "name", 1));
    let told = lab.ok("neighbors --model m --node n1 --top 1");
    assert!(told.starts_with("Nearest to Somebody (n1)"), "{told}");
    lab.refused(
        "neighbors --model m --node Somebody",
        &["60 nodes are called so", "'n0'"],
    );
}

#[test]
fn a_table_for_each_view_is_as_good_as_one() {
    let lab = Lab::new();
    let mut links = String::new();
    for i in 0..12 {
        links.push_str(&format!("w{i},d{}\nw{i},d{}\n", i % 6, (i + 1) % 6));
    }
    lab.write("links.csv", links);
    let words: String = (0..12).map(|i| format!("w{i},word {i}\n")).collect();
    let docs: String = (0..6).map(|i| format!("d{i},{}\n", 5 - i)).collect();
    lab.write("words.csv", format!("id,name\n{words}"));
    lab.write("docs.csv", format!("id,row\n{docs}"));
    let both = |text: &str, view: &str| {
        let line = |(row, id): (usize, &str)| {
            let id = id.split(',').next().unwrap();
            let row = if view == "doc" { 5 - row } else { row };
            format!("{id},{view},{row}\n")
        };
        text.lines().enumerate().map(line).collect::<String>()
    };
    let one = format!(
        "id,view,row\n{}{}",
        both(&words, "word"),
        both(&docs, "doc")
    );
    lab.write("nodes.csv", one);
    let vectors: Vec<Vec<f64>> = (0..6).map(|i| vec![f64::from(i), 1.0]).collect();
    lab.write_npy("x.npy", &vectors);
    let fit = "fit --links links.csv --features doc=x.npy --dim 2 --steps 9";
    lab.ok(&format!("{fit} --nodes nodes.csv --out one"));
    lab.ok(&format!(
        "{fit} --nodes word=words.csv --nodes doc=docs.csv --out two"
    ));
    assert_eq!(
        lab.bytes("one/embeddings.npy"),
        lab.bytes("two/embeddings.npy")
    );
    let nodes = lab.read("two/nodes.csv");
    assert!(
        nodes.starts_with("node,view,name\nw0,word,word 0\n"),
        "{nodes}"
    );
    assert!(nodes.ends_with("d5,doc,\"\"\n"), "{nodes}");
    let audit = "audit --model two --links links.csv --features doc=x.npy --out a.csv";
    lab.ok(&format!(
        "{audit} --nodes word=words.csv --nodes doc=docs.csv"
    ));
    lab.refused(
        &format!("{audit} --nodes word=words.csv"),
        &["--nodes", "'doc'"],
    );
    for (nodes, told) in [
        (
            "--nodes word=words.csv --nodes docs.csv",
            "the names of their views",
        ),
        (
            "--nodes word=words.csv --nodes word=docs.csv",
            "more than once",
        ),
        (
            "--nodes word=words.csv --nodes doc=words.csv",
            "another view has too",
        ),
        ("--nodes word=nodes.csv --nodes doc=docs.csv", "view 'doc'"),
        ("--directed --nodes word=words.csv", "--directed"),
        ("--nodes words.csv", "no column 'view'"),
    ] {
        lab.refused(&format!("{fit} {nodes} --out m"), &[told]);
    }
}

#[test]
fn nodes_of_two_kinds_have_tables_of_their_own() {
    let lab = Lab::new();
    let links: String = (0..8)
        .map(|i| format!("{i},{}\n{i},{}\n", i % 4, (i + 1) % 4))
        .collect();
    lab.write("bought.csv", links);
    lab.write(
        "items.csv",
        "id,name\n0,Tea\n1,Milk\n2,Sugar\n3,Rum\n4,Nothing\n",
    );
    let fit = "fit --links bought.csv --bipartite --dim 2 --steps 9";
    lab.ok(&format!("{fit} --nodes target=items.csv --out m"));
    let nodes = lab.read("m/nodes.csv");
    assert!(nodes.contains("\n7,source,\"\"\n0,target,Tea\n"), "{nodes}");
    assert!(nodes.ends_with("4,target,Nothing\n"), "{nodes}");
    let told = lab.ok("neighbors --model m --node 3 --top 5");
    assert!(
        told.starts_with("Nearest to 3, by") && told.contains("Sugar"),
        "{told}"
    );
    let told = lab.ok("neighbors --model m --node Tea --direction in --top 3");
    assert!(told.starts_with("Nearest to Tea (0)"), "{told}");
    // Users are compared by their embeddings alone.
    let told = lab.ok("neighbors --model m --node 3 --within source --top 3");
    assert!(
        told.contains("by cosine") && told.contains("took no part"),
        "{told}"
    );
    lab.refused(
        &format!("{fit} --nodes items.csv --out n"),
        &["--nodes", "source=FILE"],
    );
}

#[test]
fn an_update_keeps_names_and_takes_new_ones() {
    let lab = lab();
    lab.ok(&format!("{FIT} --out m"));
    lab.write("new.csv", "z,1,0,0,0,0\n");
    lab.write("more.csv", "id,Name\nz,Zoe\nn1,First\n");
    lab.write("links2.csv", "z,n1\n");
    lab.refused(
        "update --model m --links links2.csv --features new.csv --nodes more.csv --out u",
        &["new.csv", "'n1'"],
    );
    lab.write("more.csv", "id,Name\nz,Zoe\n");
    lab.ok("update --model m --links links2.csv --features new.csv --nodes more.csv --out u");
    let nodes = lab.read("u/nodes.csv");
    assert!(nodes.ends_with("\nz,Zoe,\"\",\"\"\n"), "{nodes}");
    let told = lab.ok("neighbors --model u --node Zoe --top 1");
    assert!(told.starts_with("Nearest to Zoe (z)"), "{told}");
}

#[test]
fn neighbors_are_near_by_what_is_asked_for() {
    let lab = lab();
    lab.ok(&format!("{FIT} --out m"));
    for (by, column) in [
        ("weight", None),
        ("share", Some("share")),
        ("cosine", Some("cosine")),
    ] {
        lab.ok(&format!(
            "neighbors --model m --node n4 --by {by} --out n.csv"
        ));
        let text = lab.read("n.csv");
        let head: Vec<&str> = text.lines().next().unwrap().split(',').collect();
        assert_eq!(head.get(4).filter(|name| **name != "name").copied(), column);
        let place = if column.is_some() { 4 } else { 3 };
        let numbers: Vec<f64> = rows(&text)
            .iter()
            .map(|row| row[place].parse().unwrap())
            .collect();
        assert!(numbers.windows(2).all(|pair| pair[0] >= pair[1]), "{text}");
        let json = lab.json(&format!("neighbors --model m --node n4 --by {by}"));
        assert_eq!(json["by"], by);
        assert_eq!(
            json["lists"][0]["neighbors"][0]["neighbor"],
            rows(&text)[0][1]
        );
        assert_eq!(
            json["lists"][0]["neighbors"][0]["name"],
            rows(&text)[0].last().unwrap().as_str()
        );
    }
    assert_eq!(lab.json("neighbors --model m --node n4")["by"], "weight");
    let told = lab.ok("neighbors --model m --node n4 --node n5 --top 3");
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(
        lines[1].split_whitespace().collect::<Vec<_>>(),
        ["rank", "node", "name", "cosine", "expected", "link"]
    );
    assert!(
        told.contains("how alike") && told.contains("--by weight") && told.contains("--by share"),
        "{told}"
    );
    let told = lab.ok("neighbors --model m --node n4 --by share");
    assert!(told.contains("0.02 is 2%"), "{told}");
    assert!(lines[5].starts_with("Nearest to Node 5 (n5)"), "{told}");
    // Of many nodes some are printed.
    lab.write("many.csv", lab.read("x.csv").replace('n', "u"));
    let told = lab.ok("neighbors --model m --features many.csv --top 1");
    assert!(told.contains("and of 40 more nodes: --out"), "{told}");
}

#[test]
fn neighbors_of_many_nodes_are_asked_for_at_once() {
    let lab = lab();
    lab.ok(&format!("{FIT} --out m"));
    let json = lab.json("neighbors --model m --all --top 3 --out all.csv");
    assert_eq!(
        (&json["nodes"], &json["neighbors"]),
        (&60.into(), &180.into())
    );
    lab.ok("neighbors --model m --node n7 --node n3 --top 3 --out few.csv");
    let (all, few) = (rows(&lab.read("all.csv")), rows(&lab.read("few.csv")));
    assert!(few.iter().all(|row| all.contains(row)) && few.len() == 6);
    // With a header and without; by name too.
    for list in ["node,why\nn7,x\nn3,y\n", "n7\nn3\n", "n7\nNode 3\n"] {
        lab.write("ids.csv", list);
        lab.ok("neighbors --model m --node-list ids.csv --top 3 --out listed.csv");
        assert_eq!(rows(&lab.read("listed.csv")), few, "{list}");
    }
    lab.write("ids.csv", "node\nn7\nnobody\n");
    lab.refused(
        "neighbors --model m --node-list ids.csv",
        &["ids.csv, line 3", "'nobody'", "m/nodes.csv"],
    );
    lab.write("ids.csv", "nobody\n");
    lab.refused(
        "neighbors --model m --node-list ids.csv",
        &["ids.csv, line 1"],
    );
    lab.refused("neighbors --model m --all --node n1", &["--all"]);
    lab.refused("neighbors --model m", &["--node"]);
    let from = "neighbors --model m --node-list ids.csv --out ids.csv";
    lab.refused(from, &["ids.csv"]);
}

#[test]
fn options_that_nobody_reads_are_errors() {
    let lab = lab();
    lab.ok(&format!("{FIT} --out m"));
    lab.write("pairs.csv", "n1,n2\n");
    let node = "neighbors --model m --node n1";
    let score = "score --model m --pairs pairs.csv --out s.csv";
    let audit = "audit --model m --links links.csv --out a.csv";
    for (line, option) in [
        (format!("{node} --view v"), "--view"),
        (format!("{node} --nodes nodes.csv"), "--nodes"),
        (format!("{node} --links links.csv"), "--links"),
        (format!("{node} --duplicates sum"), "--duplicates"),
        (format!("{node} --direction in"), "--direction"),
        (format!("{node} --features x.csv"), "--features"),
        (format!("{node} --by near"), "--by"),
        (format!("{score} --nodes nodes.csv"), "--nodes"),
        (format!("{score} --self-links drop"), "--self-links"),
        (format!("{audit} --nodes nodes.csv"), "--nodes"),
    ] {
        lab.refused(&line, &[option]);
    }
}

#[test]
fn a_model_is_exported_as_a_graph() {
    let lab = lab();
    lab.ok(&format!("{FIT} --labels labels.csv --out m"));
    for format in ["graphml", "json"] {
        let found = lab.json(&format!("export --model m --out g.{format}"));
        assert_eq!(
            (&found["format"], &found["nodes"]),
            (&format.into(), &60.into())
        );
        let text = lab.read(&format!("g.{format}"));
        for part in ["Node 17", "1917", "Apples"] {
            assert!(text.contains(part), "{format}: {part}");
        }
        lab.ok(&format!("export --model m --format {format} --out other"));
        assert_eq!(lab.read("other"), text);
    }
    let text = lab.read("g.json");
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["nodes"][17]["born"], 1917);
    assert_eq!(json["nodes"][17]["title"], "T17");
    assert!(json["edges"][0]["mu"].as_f64().unwrap() > 0.0);
    lab.ok("export --model m --name title --embeddings --out t.json");
    let json: serde_json::Value = serde_json::from_str(&lab.read("t.json")).unwrap();
    assert_eq!(json["nodes"][17]["label"], "T17");
    assert!(json["nodes"][17]["y2"].is_number());
    lab.refused("export --model m --out g.dot", &["g.dot", ".graphml"]);
    lab.refused("export --model m --out g.gexf", &["g.gexf", "GEXF is gone"]);
    lab.refused(
        "export --model m --format dot --out g",
        &["--format", "graphml"],
    );
    lab.refused("export --model m --name x --out g.json", &["--name", "'x'"]);
    lab.refused("export --model gone --out g.json", &["gone"]);
}

#[test]
fn shells_are_served() {
    let lab = Lab::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = lab.ok(&format!("completions {shell}"));
        assert!(
            script.contains("neighbors") && script.contains("robust"),
            "{shell}"
        );
    }
    assert_eq!(lab.json("completions fish")["shell"], "fish");
    lab.refused("completions csh", &["csh", "bash"]);
    lab.refused("man --out pages", &["is gone", "--help"]);
}
