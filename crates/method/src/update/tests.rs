use super::*;
use crate::data::dataset::Dataset;
use crate::data::features::Matrix;
use crate::data::ids::{Ids, Names};
use crate::params::Params;
use crate::robust::{Recipe, fit_model};

/// Two groups; each node is linked to the four that follow it in its group.
fn links(n: usize) -> Vec<(u32, u32, f64)> {
    let half = n / 2;
    let of = |from: usize| {
        let link = move |i: usize, step: usize| (from + i, from + (i + step) % half);
        (0..half).flat_map(move |i| (1..=4).map(move |step| link(i, step)))
    };
    let all = of(0).chain(of(half));
    all.map(|(a, b)| (a as u32, b as u32, 1.0)).collect()
}

/// Vectors that tell the group, and a little of the place.
fn vectors(n: usize) -> Vec<f64> {
    let row = |i: usize| {
        let second = if i < n / 2 { 0.0 } else { 1.0 };
        let place = (i % 7) as f64 / 20.0;
        [1.0 - second + place, second + 0.2 - place, 0.1 * place]
    };
    (0..n).flat_map(row).collect()
}

fn table(n: usize) -> Fitted {
    let data = Dataset::from_links(Graph::from_rows(n, &links(n)).unwrap()).unwrap();
    let params = Params {
        dim: 4,
        ridge: Some(0.05),
        ..Params::default()
    };
    crate::fit(&params.check().unwrap(), &data).unwrap()
}

fn linear(n: usize) -> Fitted {
    let features = Features::new(Matrix::dense(n, 3, vectors(n)).unwrap());
    let data = Dataset::new(Graph::from_rows(n, &links(n)).unwrap(), features).unwrap();
    let params = Params {
        dim: 2,
        ..Params::default()
    };
    crate::fit(&params.check().unwrap(), &data).unwrap()
}

/// The links of a robust model as they are judged.
fn judged(model: &Fitted) -> Vec<crate::judge::JudgedLink> {
    let judgment = model.believed().unwrap().judgment(model.links());
    judgment.unwrap().links
}

fn run(model: &Fitted, changes: &Changes<'_>) -> Updated {
    update(model, changes, Runtime::default()).unwrap()
}

fn refused(model: &Fitted, changes: &Changes<'_>) -> String {
    let found = update(model, changes, Runtime::default());
    found.err().map(|error| error.to_string()).unwrap()
}

#[test]
fn a_new_node_of_a_table_joins_those_that_it_is_linked_to() {
    let model = table(40);
    let new = Graph::from_rows(41, &[(40, 3, 1.0), (40, 4, 1.0), (40, 5, 1.0)]).unwrap();
    let changes = Changes {
        links: Some(&new),
        ..Changes::default()
    };
    let found = run(&model, &changes);
    let (after, report) = (&found.model, &found.report);
    assert_eq!(
        (after.n_nodes(), report.new_nodes, report.new_links),
        (41, 1, 3)
    );
    assert!(report.steps > 0 && report.moved_nodes == 3, "{report:?}");
    let mean = |rows: std::ops::Range<usize>| {
        let n = rows.len() as f64;
        rows.map(|row| after.mu(40, row)).sum::<f64>() / n
    };
    assert!(
        mean(0..20) > 5.0 * mean(20..40),
        "{} {}",
        mean(0..20),
        mean(20..40)
    );
    // Nobody else moves.
    for row in (0..40).filter(|row| ![3, 4, 5].contains(row)) {
        assert_eq!(after.row(row), model.row(row));
    }
    // The table has the vector too: embeddings are made of it.
    assert_eq!(after.views()[0].weights.len(), 41 * 4);
    assert_eq!(after.links().n_links(), model.links().n_links() + 3);
}

#[test]
fn the_slopes_of_what_moves_agree_with_differences() {
    let model = table(30);
    let new = Graph::from_rows(31, &[(30, 1, 2.0), (30, 20, 1.0)]).unwrap();
    let changes = Changes {
        links: Some(&new),
        ..Changes::default()
    };
    let joined = Joined::new(&model, &changes).unwrap();
    let mut embeddings = model.embeddings().to_vec();
    embeddings.resize(31 * 4, 0.3);
    let difference = local::largest_difference(&model, &joined, &embeddings).unwrap();
    assert!(difference < 2e-3, "{difference}");
}

#[test]
fn a_withdrawn_link_is_gone_and_its_ends_drift_apart() {
    let model = table(40);
    let gone = Graph::from_rows(40, &[(0, 1, 1.0), (0, 2, 1.0), (0, 3, 1.0)]).unwrap();
    let changes = Changes {
        withdrawn: Some(&gone),
        ..Changes::default()
    };
    let found = run(&model, &changes);
    assert_eq!(found.report.withdrawn_links, 3);
    assert_eq!(found.model.links().weight(0, 1), None);
    assert!(found.model.mu(0, 1) < model.mu(0, 1));
    // It can be withdrawn once only.
    let error = refused(&found.model, &changes);
    assert!(
        error.contains("'0' and '1'") && error.contains("withdrawn"),
        "{error}"
    );
}

#[test]
fn new_nodes_of_an_encoder_are_embedded_and_no_other_moves() {
    let model = linear(40);
    let new = Features::new(Matrix::dense(2, 3, vec![1.0, 0.2, 0.0, 0.1, 1.1, 0.0]).unwrap());
    let links = Graph::from_rows(42, &[(40, 2, 1.0), (41, 30, 2.0), (0, 9, 1.0)]).unwrap();
    let changes = Changes {
        links: Some(&links),
        vectors: vec![(0, new.clone())],
        ..Changes::default()
    };
    let found = run(&model, &changes);
    assert_eq!(found.model.n_nodes(), 42);
    assert_eq!(found.report.moved_nodes, 0);
    assert_eq!(&found.model.embeddings()[80..], model.embed(&new).unwrap());
    assert_eq!(found.model.links().weight(30, 41), Some(2.0));
    let updates = found.model.report().updates.unwrap();
    assert_eq!(
        (updates.times, updates.new_nodes, updates.new_links),
        (1, 2, 3)
    );
    // Known ids are counted from the last full fit on.
    let more = Graph::from_rows(42, &[(1, 8, 1.0)]).unwrap();
    let changes = Changes {
        links: Some(&more),
        ..Changes::default()
    };
    let again = run(&found.model, &changes).model.report().updates.unwrap();
    assert_eq!((again.times, again.new_nodes, again.new_links), (2, 2, 4));
}

#[test]
fn a_full_fit_is_due_where_much_has_changed() {
    let model = linear(40);
    let one = Graph::from_rows(40, &[(0, 9, 1.0)]).unwrap();
    let few = Changes {
        links: Some(&one),
        ..Changes::default()
    };
    assert_eq!(run(&model, &few).report.full_fit_due, None);
    let many: Vec<(u32, u32, f64)> = (0..19).map(|i| (i, i + 20, 1.0)).collect();
    let many = Graph::from_rows(40, &many).unwrap();
    let changes = Changes {
        links: Some(&many),
        ..Changes::default()
    };
    let due = run(&model, &changes).report.full_fit_due.unwrap();
    assert!(!due.of_nodes && (0.1..0.12).contains(&due.share), "{due:?}");
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let model = linear(40);
    let stranger = Graph::from_rows(41, &[(40, 2, 1.0)]).unwrap();
    let changes = Changes {
        links: Some(&stranger),
        ..Changes::default()
    };
    let error = refused(&model, &changes);
    assert!(error.contains("'40', which is new"), "{error}");
    let error = refused(&model, &Changes::default());
    assert!(error.contains("something to change"), "{error}");
    let narrow = Features::new(Matrix::dense(1, 2, vec![1.0, 0.2]).unwrap());
    let changes = Changes {
        vectors: vec![(0, narrow)],
        ..Changes::default()
    };
    assert!(refused(&model, &changes).contains("3 entries"));
    let params = Params {
        dim: 2,
        propagate: 1,
        ..Params::default()
    };
    let features = Features::new(Matrix::dense(40, 3, vectors(40)).unwrap());
    let data = Dataset::new(Graph::from_rows(40, &links(40)).unwrap(), features).unwrap();
    let model = crate::fit(&params.check().unwrap(), &data).unwrap();
    let one = Graph::from_rows(40, &[(0, 9, 1.0)]).unwrap();
    let changes = Changes {
        links: Some(&one),
        ..Changes::default()
    };
    assert!(refused(&model, &changes).contains("averaged over links"));
}

#[test]
fn ids_stay_as_they_were_written() {
    let mut names = Names::default();
    for k in 0..20 {
        names.insert(&format!("n{k:02}"));
    }
    let links: Vec<(u32, u32, f64)> = (0..19).map(|k| (k, k + 1, 1.0)).collect();
    let links = links
        .into_iter()
        .map(|(src, dst, weight)| crate::data::graph::Link { src, dst, weight });
    let rules = crate::data::graph::LinkRules::default();
    let graph = Graph::new(Ids::from(names), links.collect(), rules).unwrap();
    let params = Params {
        dim: 2,
        ridge: Some(0.1),
        ..Params::default()
    };
    let data = Dataset::from_links(graph).unwrap();
    let model = crate::fit(&params.check().unwrap(), &data).unwrap();
    let mut names = Names::default();
    for name in ["late", "n03", "n05"] {
        names.insert(name);
    }
    let link = |dst| crate::data::graph::Link {
        src: 0,
        dst,
        weight: 1.0,
    };
    let new = Graph::new(Ids::from(names), vec![link(1), link(2)], rules).unwrap();
    let changes = Changes {
        links: Some(&new),
        ..Changes::default()
    };
    let found = run(&model, &changes).model;
    assert_eq!(
        (found.ids().name(3).as_ref(), found.ids().name(20).as_ref()),
        ("n03", "late")
    );
    assert_eq!(found.links().weight(3, 20), Some(1.0));
}

#[test]
fn a_robust_model_judges_new_links() {
    let n = 300;
    // Columns can be hidden if there are enough of them.
    let wide: Vec<f64> = vectors(n)
        .chunks_exact(3)
        .flat_map(|row| [row[0], row[1], row[2], row[1], row[0]])
        .collect();
    let features = Features::new(Matrix::dense(n, 5, wide).unwrap());
    // One link in four is between the groups.
    let mut links = links(n);
    links.extend((0..400).map(|k| (k % 150, 150 + (k * 7 + k / 150) % 150, 1.0)));
    let data = Dataset::new(Graph::from_rows(n, &links).unwrap(), features).unwrap();
    let params = Params {
        dim: 4,
        ..Params::default()
    };
    let recipe = Recipe {
        threshold: 0.0,
        ..Recipe::default()
    };
    let params = params.check().unwrap();
    let fitted = fit_model(&params, &data, &recipe, Runtime::default()).unwrap();
    let model = fitted.model;
    assert!(model.averaged().is_some());
    let of_two = [1.1, 0.2, 0.0, 0.2, 1.1].repeat(2);
    let new = Features::new(Matrix::dense(2, 5, of_two).unwrap());
    // The last link joins two new nodes.
    let added = [
        (300, 2, 1.0),
        (300, 200, 1.0),
        (5, 221, 1.0),
        (300, 301, 1.0),
    ];
    let added = Graph::from_rows(n + 2, &added).unwrap();
    let changes = Changes {
        links: Some(&added),
        vectors: vec![(0, new)],
        ..Changes::default()
    };
    let found = run(&model, &changes);
    let all = judged(&found.model);
    let belief = |src: u32, dst: u32| {
        let link = all.iter().find(|it| (it.src, it.dst) == (src, dst));
        link.unwrap().belief
    };
    assert_eq!(all.len(), found.model.links().n_links());
    // One end in each group: the vectors speak against it.
    assert!(
        belief(2, 300) > belief(200, 300),
        "{} {}",
        belief(2, 300),
        belief(200, 300)
    );
    assert!(
        belief(2, 300) > belief(5, 221),
        "{} {}",
        belief(2, 300),
        belief(5, 221)
    );
    // Old links are believed as they were, and their order is kept.
    let before = judged(&model);
    assert_eq!(belief(before[7].src, before[7].dst), before[7].belief);
    // Averages: those far from every change stay, the others move a little.
    assert_eq!(found.model.recommended().len(), (n + 2) * 4);
    assert!(found.report.moved_nodes > 0 && found.report.moved_nodes < 60);
    assert!(found.report.believed_links.unwrap() <= 4.0);
}
