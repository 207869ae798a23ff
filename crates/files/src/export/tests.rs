use super::*;
use linkproof_method::data::attributes::{Attributes, Texts};
use linkproof_method::data::graph::Link;
use linkproof_method::data::ids::{Ids, Names};
use linkproof_method::model::Classes;
use linkproof_method::{Dataset, Graph, Params, fit};

fn model(ids: [&str; 3]) -> Fitted {
    let mut names = Names::default();
    names.insert_all(&ids);
    let link = |src, dst, weight| Link { src, dst, weight };
    let links = vec![link(0, 1, 1.5), link(1, 2, 2.0)];
    let graph = Graph::new(Ids::from(names), links, Default::default()).unwrap();
    let params = Params {
        dim: 2,
        steps: Some(3),
        ..Params::default()
    };
    let data = Dataset::from_links(graph).unwrap();
    let model = fit(&params.check().unwrap(), &data).unwrap();
    let texts = |all: [&str; 3]| Texts::from_iter(all);
    let columns = vec![
        (
            "name".to_owned(),
            texts(["<Ann> & \"co\"", "", "C\u{1}\nD"]),
        ),
        ("born".to_owned(), texts(["1815", "", "-3"])),
        ("code".to_owned(), texts(["007", "12", "1"])),
        ("x".to_owned(), texts(["1.5", "2", ""])),
    ];
    let classes = Classes {
        names: vec!["0".into()],
        titles: vec!["A & B".into()],
        codes: vec![Some(0), None, Some(0)],
    };
    let model = model.with_attributes(Some(Attributes::new(columns).unwrap()));
    model.unwrap().with_classes(Some(classes)).unwrap()
}

fn written(model: &Fitted, format: GraphFormat) -> Result<(String, usize)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph");
    let graph = ModelGraph {
        model,
        points: &[[0.5, 1.0], [2.0, -1.0], [0.0, 0.0]],
        embeddings: false,
    };
    let replaced = write_graph(&path, format, &graph)?;
    Ok((std::fs::read_to_string(&path).unwrap(), replaced))
}

#[test]
fn all_formats_hold_the_same() {
    let model = model(["a<", "7", "\u{fc} \"q\""]);
    let (text, replaced) = written(&model, GraphFormat::Json).unwrap();
    assert_eq!(replaced, 0);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    let node = &json["nodes"][0];
    assert_eq!(
        (&node["id"], &node["label"]),
        (&"a<".into(), &"<Ann> & \"co\"".into())
    );
    assert_eq!(
        (&node["born"], &node["code"]),
        (&1815.into(), &"007".into())
    );
    assert_eq!((&node["x"], &node["x_"]), (&0.5.into(), &1.5.into()));
    assert_eq!(node["class_name"], "A & B");
    let other = &json["nodes"][1];
    assert_eq!(
        (&other["label"], other.get("born"), other.get("class")),
        (&"7".into(), None, None)
    );
    assert_eq!(json["edges"][0]["weight"], 1.5);
    assert!((json["edges"][1]["mu"].as_f64().unwrap() - model.mu(1, 2)).abs() < 1e-12);

    let (text, replaced) = written(&model, GraphFormat::Graphml).unwrap();
    assert_eq!(replaced, 1);
    for part in [
        r#"<graph edgedefault="undirected">"#,
        r#"<node id="a&lt;"><data key="label">&lt;Ann&gt; &amp; &quot;co&quot;</data>"#,
        r#"attr.name="born" attr.type="long""#,
        r#"attr.name="code" attr.type="string""#,
        r#"attr.name="x_" attr.type="double""#,
        "C\u{fffd}&#10;D",
        r#"<edge source="7" target="ü &quot;q&quot;"><data key="weight">2</data>"#,
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn ids_that_xml_cannot_hold_are_refused() {
    let model = model(["a", "b\u{0}", "c"]);
    let error = written(&model, GraphFormat::Graphml).unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("control character") && error.contains("format"),
        "{error}"
    );
    assert!(written(&model, GraphFormat::Json).is_ok());
    let graph = ModelGraph {
        model: &model,
        points: &[],
        embeddings: false,
    };
    assert!(write_graph("nowhere.json", GraphFormat::Json, &graph).is_err());
}

#[test]
fn columns_are_of_the_kind_that_all_their_texts_are() {
    for (texts, kind) in [
        (vec!["1", "-20", ""], Kind::Whole),
        (vec!["1", "2.5"], Kind::Real),
        (vec!["0.5", "1.5e3"], Kind::Real),
        (vec!["007"], Kind::Text),
        (vec!["1e5"], Kind::Text),
        (vec!["1", "x"], Kind::Text),
        (vec!["nan"], Kind::Text),
        (vec!["", ""], Kind::Text),
        (vec!["99999999999999999999"], Kind::Real),
    ] {
        assert_eq!(kind_of(&texts.iter().collect()), kind, "{texts:?}");
    }
}
