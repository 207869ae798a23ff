//! A model as one page: everything in one file, which works without a network.
//!
//! The page itself, its scripts and its style are in `page/`; here it is filled.
//! Names and labels come from files of the user: in the data they are JSON whose
//! marks are escaped, and the scripts write them as text only.

mod arrays;
mod expected;
mod links;
mod words;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rayon::prelude::*;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::layout::Layout;
use arrays::{array, escaped, inside_a_page};
use expected::{degrees, weights};
use linkproof_method::data::graph::Graph;
use linkproof_method::error::{Error, Result};
use linkproof_method::measure::KMeans;
pub use linkproof_method::model::Classes;
use linkproof_method::model::Fitted;
use linkproof_text::percent;

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const VENDOR: &str = include_str!("page/vendor/twgl.min.js");

macro_rules! scripts {
    ($first:literal $($name:literal)*) => {
        concat!(
            include_str!(concat!("page/", $first, ".js")),
            $("\n", include_str!(concat!("page/", $name, ".js"))),*
        )
    };
}
/// In the order in which `page.html` names them.
const SCRIPTS: &str = scripts!(
    "report-data" "elements" "colours" "link-filter" "viewport" "node-grid" "shaders"
    "picture-layer" "webgl-renderer" "canvas-renderer" "overlay" "scatter" "gestures"
    "node-card" "search" "map-controls" "chart-axes" "fit-charts" "histograms" "link-table"
    "verdict" "provenance" "theme" "printing" "main"
);

/// A longer history is thinned out.
const MOST_STEPS: usize = 2_000;
/// More nodes are clustered from fewer starts.
const MANY_NODES: usize = 20_000;
/// So many neighbours of a node are looked for in fits to parts of the nodes.
const NEAREST: usize = 10;
/// That takes about a minute of one core.
const MOST_PRODUCTS: f64 = 5e10;

/// What a page shows.
pub struct Page<'a> {
    /// What it is called.
    pub title: &'a str,
    /// The model.
    pub model: &'a Fitted,
    /// The links of its fit, between its rows.
    pub links: &'a Graph,
    /// What `fit.json` holds.
    pub record: &'a Map<String, Value>,
    /// The command that made it, as a shell takes it.
    pub command_line: Option<String>,
    /// Known classes.
    pub classes: Option<&'a Classes>,
    /// Where the nodes are drawn.
    pub layout: &'a Layout,
    /// Asked between the parts of the work; `false` ends it with
    /// [`Error::Interrupted`].
    pub goes_on: &'a (dyn Fn() -> bool + Sync),
}

impl std::fmt::Debug for Page<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = &mut f.debug_struct("Page");
        name.field("title", &self.title).finish_non_exhaustive()
    }
}

impl Page<'_> {
    /// The page as one HTML file.
    pub fn html(&self) -> Result<String> {
        let (policy, title) = (policy(), escaped(self.title));
        let parts = [
            ("{{policy}}", &*policy),
            ("{{title}}", &title),
            ("{{style}}", STYLE),
            ("{{vendor}}", VENDOR),
            ("{{scripts}}", SCRIPTS),
            ("{{data}}", &inside_a_page(&self.data()?)),
        ];
        Ok(fill(PAGE, &parts))
    }

    /// Everything that the page draws.
    fn data(&self) -> Result<Value> {
        let judged = self.judge()?;
        self.check_on()?;
        let nodes = self.nodes()?;
        self.check_on()?;
        let (degrees, weights) = (
            degrees(self.model, &judged.graph),
            weights(self.model, &judged.graph),
        );
        self.check_on()?;
        Ok(json!({
            "version": 1,
            "title": self.title,
            "made": format!("linkproof {}", env!("CARGO_PKG_VERSION")),
            "nodes": nodes,
            "layout": self.layout_in_words(),
            "links": self.drawn_links(&judged),
            "history": self.history(),
            "selection": self.selection(),
            "degrees": degrees,
            "weights": weights,
            "facts": self.facts(),
            "verdict": self.verdict(),
            "notes": self.notes(),
            "command": self.record.get("command").filter(|command| command.is_array()),
            "command_line": self.command_line,
            "inputs": self.inputs(),
            "parameters": self.parameters(),
        }))
    }

    fn check_on(&self) -> Result<()> {
        match (self.goes_on)() {
            true => Ok(()),
            false => Err(Error::Interrupted { step: 0 }),
        }
    }

    fn nodes(&self) -> Result<Value> {
        let (model, n) = (self.model, self.model.n_nodes());
        let points = &self.layout.points;
        let rows_are_ids = matches!(model.ids(), linkproof_method::data::ids::Ids::Rows(_));
        let ids: Option<Vec<_>> =
            (!rows_are_ids).then(|| (0..n).map(|row| model.ids().name(row)).collect());
        // Empty where a node has none.
        let names: Option<Vec<&str>> = model.has_names().then(|| {
            let names = (0..n).map(|row| model.title(row).unwrap_or(""));
            names.collect()
        });
        let several = model.views().len() > 1;
        let views = model.views().iter().filter(|_| several);
        let views: Vec<&str> = views.map(|view| view.name.as_str()).collect();
        let view = several.then(|| array(model.node_views().iter().copied()));
        let (k, clusters) = self.clusters()?;
        let label = self.classes.map(|classes| {
            let code = |code: &Option<u32>| code.map_or(-1, |code| code as i32);
            array(classes.codes.iter().map(code))
        });
        Ok(json!({
            "n": n,
            "x": array(points.iter().map(|point| point[0])),
            "y": array(points.iter().map(|point| point[1])),
            "ids": ids,
            "names": names,
            "views": views,
            "view": view,
            "degree": array(self.links.degrees()),
            "labels": self.classes.map_or_else(Vec::new, Classes::shown),
            "label": label,
            "stability": self.stability()?.map(array),
            "clusters": k,
            "cluster": array(clusters.into_iter().map(|cluster| cluster as i32)),
        }))
    }

    /// For each node the share of its nearest neighbours that stay in fits to parts of the
    /// nodes; none without these, or where it would take long.
    fn stability(&self) -> Result<Option<Vec<f32>>> {
        let (model, n) = (self.model, self.model.n_nodes());
        let count = model.replicates().map_or(0, |it| it.parts.len());
        let products = (n * n) as f64 * (count * model.dim()) as f64;
        if count == 0 || products > MOST_PRODUCTS {
            return Ok(None);
        }
        let of_node = |node: usize| {
            let near = model.neighbors(model.point(node), NEAREST, Some(node), None)?;
            let rows: Vec<usize> = near.iter().map(|it| it.row).collect();
            let shares = model.stability(node, &rows).unwrap_or_default();
            let sum: f64 = shares.iter().sum();
            Ok((sum / shares.len() as f64) as f32)
        };
        let found: Result<Vec<f32>> = (0..n).into_par_iter().map(of_node).collect();
        found.map(Some)
    }

    fn layout_in_words(&self) -> String {
        match self.layout.explained {
            Some(share) => format!("{}, {} of the variance", self.layout.method, percent(share)),
            None => self.layout.method.to_string(),
        }
    }

    /// Clusters by k-means: as many as classes, or eight.
    fn clusters(&self) -> Result<(usize, Vec<u32>)> {
        let n = self.model.n_nodes();
        let classes = self.classes.map_or(8, |classes| classes.names.len());
        let k = classes.clamp(2, 20).min(n);
        let kmeans = KMeans {
            restarts: if n > MANY_NODES { 1 } else { 10 },
            max_iterations: if n > MANY_NODES { 50 } else { 300 },
            ..KMeans::new(k, self.model.params().seed)
        };
        let found = kmeans.fit(self.model.recommended(), n, self.model.dim())?;
        Ok((k, found.labels))
    }

    fn history(&self) -> Value {
        let report = self.model.report();
        let step = report.history.len().div_ceil(MOST_STEPS).max(1);
        let last = report.history.len().saturating_sub(1);
        let kept = |place: usize| {
            // What was held out is rare, and the end is what counts.
            place.is_multiple_of(step)
                || place == last
                || report.history[place].held_out.is_some() && step < 50
        };
        let records = report.history.iter().enumerate();
        let records = records
            .filter(|(place, _)| kept(*place))
            .map(|(_, record)| record);
        json!({
            "step": Value::from_iter(records.clone().map(|record| record.step)),
            "value": Value::from_iter(records.clone().map(|record| record.value)),
            "held_out": Value::from_iter(records.map(|record| json!(record.held_out))),
            "best_step": report.best_step,
            "stop_reason": report.stop_reason,
        })
    }
}

/// What the page may do: run its own scripts and style, known by their digests, and
/// nothing else. Should a name ever get into the page as more than text, it does not
/// run.
fn policy() -> String {
    let own = [
        ("{{style}}", STYLE),
        ("{{vendor}}", VENDOR),
        ("{{scripts}}", SCRIPTS),
    ];
    let page = fill(PAGE, &own);
    format!(
        "default-src 'none'; style-src {}; script-src {}; img-src data: blob:; base-uri 'none'; \
         form-action 'none'",
        digests(&page, "style"),
        digests(&page, "script")
    )
}

/// The digests of all elements of a kind that have no attributes, as a policy names
/// them.
fn digests(page: &str, element: &str) -> String {
    let (begin, end) = (format!("<{element}>"), format!("</{element}>"));
    let contents = page.split(begin.as_str()).skip(1);
    let contents = contents.filter_map(|rest| rest.split(end.as_str()).next());
    let digests = contents.map(|content| {
        let digest = STANDARD.encode(Sha256::digest(content));
        format!("'sha256-{digest}'")
    });
    digests.collect::<Vec<_>>().join(" ")
}

/// A text with its marks replaced, each mark once and in the order of the text, so
/// that nothing that is put in is taken for a mark.
fn fill(text: &str, parts: &[(&str, &str)]) -> String {
    let size: usize = parts.iter().map(|(_, part)| part.len()).sum();
    let mut filled = String::with_capacity(text.len() + size);
    let mut rest = text;
    while let Some((place, mark, part)) = parts
        .iter()
        .filter_map(|(mark, part)| Some((rest.find(mark)?, *mark, *part)))
        .min_by_key(|found| found.0)
    {
        filled.push_str(&rest[..place]);
        filled.push_str(part);
        rest = &rest[place + mark.len()..];
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_names_the_digests_of_what_runs() {
        // By `printf abc | openssl dgst -sha256 -binary | base64`.
        let digest = "'sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0='";
        assert_eq!(digests("<b>abc</b><b c>d</b>", "b"), digest);
        let policy = policy();
        assert!(
            !policy.contains("unsafe") && !policy.contains('"'),
            "{policy}"
        );
        assert!(PAGE.contains("{{policy}}"));
        let plain = |element: &str| PAGE.matches(&format!("<{element}>")).count();
        assert_eq!(
            policy.matches("sha256-").count(),
            plain("style") + plain("script")
        );
        assert!(plain("style") >= 1 && plain("script") >= 1);
    }

    #[test]
    fn marks_in_what_is_put_in_stay() {
        let parts = [("{{a}}", "{{b}} {{a}}"), ("{{b}}", "<{{a}}>")];
        assert_eq!(
            fill("{{a}}-{{b}}-{{a}}", &parts),
            "{{b}} {{a}}-<{{a}}>-{{b}} {{a}}"
        );
    }
}
