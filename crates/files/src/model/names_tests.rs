//! What a table says of nodes, and what labels are called, there and back.

use std::fs;
use std::path::Path;

use super::*;
use linkproof_method::data::attributes::{Attributes, Texts};
use linkproof_method::data::graph::{Ends, Link, LinkRules};
use linkproof_method::data::ids::{Ids, Names, Sides};
use linkproof_method::model::Classes;
use linkproof_method::{Dataset, Fitted, Graph, Params, fit};

fn fitted(graph: Graph) -> Fitted {
    let params = Params {
        dim: 2,
        steps: Some(3),
        ..Params::default()
    };
    let data = Dataset::from_links(graph).unwrap();
    fit(&params.check().unwrap(), &data).unwrap()
}

fn texts(of: impl Fn(usize) -> String, n: usize) -> Texts {
    (0..n).map(of).collect()
}

fn columns(n: usize) -> Attributes {
    let title = texts(|row| format!("Title, \"{row}\"\n"), n);
    let year = texts(
        |row| {
            if row == 1 {
                String::new()
            } else {
                format!(" {row}")
            }
        },
        n,
    );
    let columns = vec![("title".into(), title), ("y ear".into(), year)];
    Attributes::new(columns).unwrap().shown_by("title").unwrap()
}

fn stored_twice(model: &Fitted, path: &Path) -> [Fitted; 2] {
    save(model, path).unwrap();
    let bytes = to_bytes(model, &Default::default()).unwrap();
    [load(path).unwrap().model, from_bytes(&bytes).unwrap().model]
}

#[test]
fn columns_and_titles_survive() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plain");
    let model = fitted(Graph::from_rows(3, &[(0, 1, 1.0), (1, 2, 1.0)]).unwrap());
    assert_eq!((model.has_names(), model.title(0)), (false, None));
    let classes = Classes {
        names: vec!["0".into(), "1".into()],
        titles: vec!["Agents".into(), String::new()],
        codes: vec![Some(1), None, Some(0)],
    };
    assert_eq!(classes.shown(), ["Agents", "1"]);
    let model = model.with_classes(Some(classes.clone())).unwrap();
    let model = model.with_attributes(Some(columns(3))).unwrap();
    for stored in stored_twice(&model, &path) {
        assert_eq!(stored.attributes(), Some(&columns(3)));
        assert_eq!(stored.title(2), Some("Title, \"2\"\n"));
        assert_eq!(stored.classes(), Some(&classes));
    }
    let labels = fs::read_to_string(path.join("labels.csv")).unwrap();
    assert_eq!(labels, "node,label,label_name\n0,1,\"\"\n2,0,Agents\n");
    let nodes = fs::read_to_string(path.join("nodes.csv")).unwrap();
    assert!(
        nodes.starts_with("node,title,y ear\n0,\"Title, \"\"0\"\"\n\",\" 0\"\n"),
        "{nodes}"
    );

    // A person may add a column, or take that of the names away.
    fs::write(path.join("nodes.csv"), "node,Name\n0,A\n1,\n2,C\n").unwrap();
    let edited = load(&path).unwrap().model;
    assert_eq!((edited.title(0), edited.title(1)), (Some("A"), None));
    assert!(model.clone().with_attributes(Some(columns(2))).is_err());
    assert!(
        !model
            .with_attributes(Some(Attributes::default()))
            .unwrap()
            .has_names()
    );
}

/// Links from two sources to three targets, whose ids repeat those of the sources.
fn bipartite() -> Graph {
    let of = |ids: &[&str]| {
        let mut names = Names::default();
        names.insert_all(ids);
        Ids::from(names)
    };
    let sides = Sides {
        source: of(&["7", "8"]),
        target: of(&["7", "8", "9"]),
        same: false,
    };
    let link = |src, dst| Link {
        src,
        dst,
        weight: 1.0,
    };
    let rules = LinkRules {
        ends: Ends::Bipartite,
        ..LinkRules::default()
    };
    let links = vec![link(0, 2), link(0, 3), link(1, 4)];
    Graph::new(Ids::Sides(sides.into()), links, rules).unwrap()
}

#[test]
fn nodes_on_two_sides_have_names_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sides");
    let model = fitted(bipartite())
        .with_attributes(Some(columns(5)))
        .unwrap();
    for stored in stored_twice(&model, &path) {
        assert_eq!(stored.title(2), Some("Title, \"2\"\n"));
        assert_eq!(stored.ids().name(2), "7");
    }
    let nodes = path.join("nodes.csv");
    let text = fs::read_to_string(&nodes).unwrap();
    fs::write(&nodes, text.replacen("\n8,", "\n6,", 1)).unwrap();
    let error = load(&path).unwrap_err().to_string();
    assert!(
        error.contains("nodes.csv") && error.contains("other nodes"),
        "{error}"
    );
}
