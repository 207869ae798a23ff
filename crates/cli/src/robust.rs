//! `fit --robust`: the whole recipe, and what it found in words.

use std::fmt::Write;
use std::path::Path;

use linkproof::io::{Check, model_files};
use linkproof::params::Param;
use linkproof::robust::{OWN_SETTINGS, Recipe, RobustSummary};
use linkproof::verdict::{Said, Topic};

use crate::args::quoted;
use crate::exit::Usage;
use crate::session::{counted, wrapped};
use crate::settings::SettingArgs;
use crate::suspects::{lines, push_commands, push_line, push_notes};

/// The recipe, with a ridge that was given. Other settings that are the recipe's
/// own must not be.
pub fn recipe(settings: &SettingArgs) -> anyhow::Result<Recipe> {
    let given = settings.given()?;
    for (param, why) in OWN_SETTINGS {
        let Some(given) = given.iter().find(|given| given.param == param) else {
            continue;
        };
        return Err(Usage::new(format!(
            "{given} does not go with --robust: {why}; expected one of the two"
        ))
        .into());
    }
    if given.iter().any(|given| given.param == Param::Ridge) {
        return Ok(Recipe::at_ridge(settings.params(None)?.ridge));
    }
    Ok(Recipe::default())
}

/// The end of a robust fit.
pub struct Ended<'e> {
    /// What was found.
    pub found: &'e RobustSummary,
    /// The judged links.
    pub check: &'e Check,
    /// The dimension of the embedding.
    pub dim: usize,
    /// The model's folder.
    pub out: &'e Path,
    /// How long it took.
    pub seconds: f64,
    /// What to know beside the lines.
    pub notes: Vec<String>,
    /// Everything else, if it is wanted.
    pub details: Option<String>,
    /// What can be typed next.
    pub next: Vec<String>,
}

impl Ended<'_> {
    /// The first line, Use it, Links, Test, Dimensions, then what can be done next.
    pub fn words(self) -> String {
        let shown = |path: &Path| quoted(&path.display().to_string());
        let list = shown(&self.out.join(model_files::SUSPECTS));
        let command = format!("linkproof audit --model {}", shown(self.out));
        let mut text = String::new();
        let said = |topic: Topic| {
            let said = self.found.verdict.iter();
            said.filter(move |said| said.about == topic)
                .map(|said| said.says.as_str())
        };
        for line in lines(self.check, &list, &command, self.seconds) {
            if line.topic.is_empty() {
                let counts = line.says.join(" ");
                let dimensions = counted(self.dim, "dimension");
                let first = match counts.rsplit_once(", ") {
                    Some((counts, seconds)) => format!("{counts}, {dimensions}, {seconds}"),
                    None => counts,
                };
                let _ = write!(text, "{first}\n\n");
                push_line(&mut text, "Use it", said(Topic::Use));
            } else {
                push_line(&mut text, line.topic, line.says);
            }
        }
        push_line(&mut text, "Dimensions", said(Topic::Dimensions));
        push_notes(&mut text, self.notes);
        if let Some(details) = &self.details {
            push_line(&mut text, "Smoothing", said(Topic::Smoothing));
            let chosen = self.found.chosen;
            let _ = write!(
                text,
                "\n  ridge     {}, walks of length {}, {} of smoothing{details}\n",
                chosen.ridge,
                chosen.walks,
                counted(chosen.rounds, "round")
            );
        }
        push_commands(&mut text, &self.next);
        text
    }
}

/// The sentences of a verdict, each after its topic.
pub fn verdict_in_words(verdict: &[Said]) -> String {
    let mut text = String::new();
    for said in verdict {
        let name = match said.about {
            Topic::Use => "Use it",
            Topic::Links => "Links",
            Topic::Test => "Test",
            Topic::Features => "Features",
            Topic::Weights => "Weights",
            Topic::Smoothing => "Smoothing",
            Topic::Dimensions => "Dimensions",
        };
        let _ = write!(text, "\n{}", wrapped(&format!("{name:<11}"), &said.says));
    }
    text
}
