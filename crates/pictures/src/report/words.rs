//! What a page says of a fit in words: facts, notes, parameters, the search before
//! it and the files that it read.

use serde_json::{Value, json};

use super::{Page, expected};
use linkproof_method::params::{ScoreKind, WeightTransform};
use linkproof_text::{Style, dimensions, figures, grouped, note};

impl Page<'_> {
    /// What a reader should know.
    pub(super) fn notes(&self) -> Vec<String> {
        let params = self.model.params();
        let notes = &self.model.report().notes;
        let mut notes: Vec<String> = notes.iter().map(|it| note(it, Style::default())).collect();
        if params.weights != WeightTransform::AsIs && !self.model.is_signed() {
            notes.push(format!(
                "expected weights, and the histogram of weights, are those after the transform \
                 '{}'; the list has the weights as they were given",
                params.weights
            ));
        }
        if params.walks > 0 {
            notes.push(
                "the fit saw weights averaged over walks; here they are compared as they were given"
                    .to_owned(),
            );
        }
        if self.model.n_nodes() > expected::MOST_NODES {
            notes.push(format!(
                "expected degrees are those of {} nodes drawn at random",
                expected::MOST_NODES
            ));
        }
        notes
    }

    /// What was found about links and embeddings, in sentences, and what became of
    /// links that are known to be false.
    pub(super) fn verdict(&self) -> Value {
        let robust = self.record.get("robust");
        let of_robust = |name: &str| robust.and_then(|found| found.get(name)).cloned();
        let model = self.model;
        let said = self
            .record
            .get("verdict")
            .cloned()
            .or_else(|| of_robust("verdict"));
        let said = said.unwrap_or_else(|| {
            let used = dimensions(model.effective_rank(), model.dim());
            let links = "The fit took all links as they are: nobody judged which of them are false. \
                         A robust fit does.";
            json!([{ "about": "links", "says": links }, { "about": "dimensions", "says": used }])
        });
        json!({ "said": said, "detection": of_robust("detection").unwrap_or_default() })
    }

    /// The candidates of a search, where one was run before the fit.
    pub(super) fn selection(&self) -> Option<Value> {
        let found = self.record.get("selection")?;
        let chosen = found.get("chosen")?;
        let candidates = found.get("candidates")?.as_array()?;
        // The plot is of score, exponent and ridge; all else as in the choice, and
        // of several limits of steps the best.
        let same = |one: &Value, other: &Value, parts: &[&str]| {
            parts.iter().all(|&part| one.get(part) == other.get(part))
        };
        let axes = ["score", "beta", "ridge"];
        let behind = |one: &Value| one["behind"].as_f64().unwrap_or(f64::INFINITY);
        let mut drawn: Vec<&Value> = Vec::new();
        for one in candidates
            .iter()
            .filter(|one| same(one, chosen, &["dim", "walks"]))
        {
            match drawn.iter_mut().find(|other| same(one, other, &axes)) {
                Some(other) if behind(one) < behind(other) => *other = one,
                Some(_) => {}
                None => drawn.push(one),
            }
        }
        let row = |one: &Value| {
            let of = |name: &str| one.get(name).cloned().unwrap_or_default();
            let score: Option<ScoreKind> = serde_json::from_value(of("score")).ok();
            let beta = score.is_none_or(ScoreKind::reads_beta).then(|| of("beta"));
            json!({ "score": of("score"), "beta": beta, "ridge": of("ridge"),
                    "behind": of("behind"), "standard_error": of("standard_error"),
                    "chosen": same(one, chosen, &axes) })
        };
        let criterion = found.get("criterion").cloned().unwrap_or_default();
        let rows: Vec<Value> = drawn.into_iter().map(row).collect();
        Some(json!({ "criterion": criterion, "candidates": rows }))
    }

    /// The parameters as they were given; what was left open was chosen to fit.
    pub(super) fn parameters(&self) -> Value {
        let mut params = json!(self.model.params());
        if let Some(params) = params.as_object_mut() {
            for (name, value) in params.iter_mut().filter(|(_, value)| value.is_null()) {
                *value = json!(match name.as_str() {
                    "clip" | "radius" => "none",
                    "view-pairs" => "those with a link",
                    _ => "chosen to fit",
                });
            }
        }
        params
    }

    pub(super) fn facts(&self) -> Vec<(String, String)> {
        let (model, report) = (self.model, self.model.report());
        let counts = report.counts;
        let mut facts = vec![
            ("nodes", grouped(model.n_nodes())),
            ("links", grouped(self.links.n_links())),
            ("dimensions", model.dim().to_string()),
            ("score", model.params().score.to_string()),
            ("ridge", model.params().ridge().to_string()),
            ("gamma", self.gamma_in_words()),
            ("value", figures(report.value)),
            ("steps", grouped(report.steps)),
            ("seconds", figures(report.seconds)),
        ];
        let of_score = model.params().score_settings();
        facts.splice(
            4..4,
            of_score.map(|(name, value)| (name, value.to_string())),
        );
        if let Some((start, best)) = report.held_out {
            facts.push((
                "held-out score, a pair",
                format!("{} (from {})", figures(best), figures(start)),
            ));
        }
        let more = [
            ("links held out", counts.held_out_links),
            ("links set aside", counts.set_aside_links),
            (
                "links between views that take no part",
                counts.ignored_links,
            ),
            ("links of weight zero, dropped", counts.read.zero),
            ("self-links, dropped", counts.read.self_links),
        ];
        for (name, count) in more.into_iter().filter(|(_, count)| *count > 0) {
            facts.push((name, grouped(count)));
        }
        let owned = |(name, value): (&str, String)| (name.to_owned(), value);
        facts.into_iter().map(owned).collect()
    }

    fn gamma_in_words(&self) -> String {
        let views = self.model.views();
        let pairs = self.model.view_pairs();
        if pairs.len() > 3 {
            let gammas = pairs.iter().map(|&(d, e)| self.model.gamma().get(d, e));
            let least = gammas.clone().fold(f64::INFINITY, f64::min);
            let most = gammas.fold(f64::NEG_INFINITY, f64::max);
            return format!(
                "{} to {} ({} pairs of views)",
                figures(least),
                figures(most),
                pairs.len()
            );
        }
        let pairs = pairs.iter();
        let gammas = pairs.map(|&(d, e)| {
            let gamma = self.model.gamma().get(d, e);
            match views.len() {
                1 => figures(gamma),
                _ => format!("{} ({}:{})", figures(gamma), views[d].name, views[e].name),
            }
        });
        gammas.collect::<Vec<_>>().join(", ")
    }

    pub(super) fn inputs(&self) -> Vec<(String, String)> {
        let inputs = self.record.get("inputs").and_then(Value::as_array);
        let inputs = inputs.map(Vec::as_slice).unwrap_or_default();
        let text = |input: &Value, name: &str| {
            let text = input.get(name).and_then(Value::as_str);
            text.unwrap_or("unknown").to_owned()
        };
        let input = |input: &Value| (text(input, "path"), text(input, "sha256"));
        inputs.iter().map(input).collect()
    }
}
