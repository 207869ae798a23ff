//! Links audited against a model, and pairs that miss a link.

use linkproof::audit::{Audit, AuditSettings, ExpectedLink, audit, judged_data, missing};
use linkproof::data::features::Matrix;
use linkproof::io::{JudgedTable, facts_json};
use linkproof::text::judged;
use linkproof::{Dataset, Features, Fitted, Graph};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;

use crate::context::Context;
use crate::data::{Links, ViewArgument, features};
use crate::judged::{JudgeRequest, Places, columns};
use crate::model::{Model, name_of, reader};
use crate::work::apart;

/// The data to judge: other links than the model's, and features.
struct Given {
    links: Option<Graph>,
    views: Vec<(String, usize, Option<Matrix>)>,
}

impl Given {
    /// With the features that were given, or else those that the model keeps.
    fn data(self, model: &Model) -> linkproof::Result<Dataset> {
        let links = self.links.unwrap_or_else(|| model.fitted.links().clone());
        let mut given = features(self.views);
        for (name, features) in &given {
            let view = model.fitted.view(Some(name))?;
            if !model.fitted.views()[view].network.is_table() {
                model.fitted.check_vectors(view, features)?;
            }
        }
        if let (true, Some(believed)) = (given.is_empty(), model.fitted.believed()) {
            let kept = believed.vectors.iter().zip(model.fitted.views());
            given = kept
                .filter_map(|(matrix, view)| {
                    Some((view.name.clone(), Features::new(matrix.clone()?)))
                })
                .collect();
        }
        judged_data(&model.fitted, links, given)
    }
}

/// Columns by name, pairs that miss a link (rows and expected weight), and what was found
/// about all links, as JSON.
type Audited<'py> = (Bound<'py, PyDict>, Vec<(u32, u32, f64)>, String);

/// Audits links, the most suspicious first.
#[pyfunction]
#[pyo3(name = "audit", signature = (model, links, views, request, missing_pairs, context))]
pub fn audit_links<'py>(
    py: Python<'py>,
    model: &Model,
    links: Option<&Links>,
    views: Vec<ViewArgument<'py>>,
    request: JudgeRequest,
    missing_pairs: usize,
    context: &Context,
) -> PyResult<Audited<'py>> {
    let view = |(name, n, vectors): ViewArgument<'_>| {
        (name, n, vectors.map(|vectors| vectors.matrix.clone()))
    };
    let given = Given {
        links: links.map(|links| links.graph.clone()),
        views: views.into_iter().map(view).collect(),
    };
    // Of its own links a robust fit has the judgment.
    let is_judged = model.fitted.believed().is_some() || given.views.is_empty();
    let is_known =
        given.links.is_none() && is_judged && !request.one_to_one && request.evidence.is_none();
    let found = context.run(py, |monitor| {
        let data = match is_known {
            true => None,
            false => Some(given.data(model)?),
        };
        let places = match &data {
            Some(data) => Places::of_data(data),
            None => Places::of_graph(model.fitted.links()),
        };
        let settings = AuditSettings {
            judge: request.spec(&places)?,
            missing: missing_pairs,
        };
        let monitor = monitor.shares();
        let runtime = linkproof::Runtime::watched_by(&monitor);
        audit(&model.fitted, data.as_ref(), &settings, runtime)
    })?;
    let places = found.judgment.by_rank();
    let judged = JudgedTable {
        judgment: &found.judgment,
        ids: model.fitted.ids(),
        attributes: model.fitted.attributes(),
    };
    let table = columns(py, &judged, &places)?;
    type Column = (&'static str, fn(&ExpectedLink) -> f64);
    let numbers: [Column; 3] = [
        ("mu", |link| link.mu),
        ("trust", |link| link.trust),
        ("influence", |link| link.influence),
    ];
    for (name, number) in numbers {
        let numbers = places.iter().map(|&place| number(&found.expected[place]));
        table.set_item(name, PyArray1::from_iter(py, numbers))?;
    }
    let abstained = found.judgment.facts.abstained;
    let rates = places.iter().map(|&place| match abstained {
        true => f64::NAN,
        false => found.false_discovery_rate[place],
    });
    table.set_item("false_discovery_rate", PyArray1::from_iter(py, rates))?;
    let pairs = found.missing.iter();
    let pairs = pairs.map(|pair| (pair.src, pair.dst, pair.mu)).collect();
    Ok((table, pairs, facts(&found, &model.fitted)))
}

/// What was found about all links together, by the names of the command line's JSON.
fn facts(found: &Audit, model: &Fitted) -> String {
    let facts = &found.judgment.facts;
    let name = |row| name_of(model, row);
    let verdict = judged(facts, &found.judgment.tally(), true, &reader(&name));
    let mut json = facts_json(facts);
    json.insert(
        "judged_by_links_alone".to_owned(),
        found.by_links_alone.into(),
    );
    json.insert("verdict".to_owned(), json!(verdict));
    json!(json).to_string()
}

/// The pairs of largest expected weight that have no link: rows and expected weights.
#[pyfunction]
pub fn missing_pairs(
    py: Python<'_>,
    model: &Model,
    links: Option<&Links>,
    count: usize,
) -> PyResult<Vec<(u32, u32, f64)>> {
    let links = links.map_or(model.fitted.links(), |links| &links.graph);
    let found = apart(py, || missing(&model.fitted, links, count))?;
    let pairs = found.iter().map(|pair| (pair.src, pair.dst, pair.mu));
    Ok(pairs.collect())
}
