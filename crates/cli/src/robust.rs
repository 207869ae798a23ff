//! `fit --robust`: the whole recipe, and what it found in words.

use std::fmt::Write;

use linkproof::Fitted;
use linkproof::params::Param;
use linkproof::trust::robust::{OWN_SETTINGS, Recipe, RobustSummary};
use linkproof::verdict::{Said, Topic};

use crate::exit::Usage;
use crate::session::wrapped;
use crate::settings::SettingArgs;

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

/// What was fitted and written, for the summary of a fit.
pub fn words(model: &Fitted, found: &RobustSummary) -> String {
    let mut text = String::new();
    if found.trust.abstained {
        let _ = write!(
            text,
            "\n  fitted    the plain fit to all links, at ridge {}\n  written   embeddings.npy \
             is the plain embedding; beliefs.csv holds the same belief for each link",
            model.params().ridge
        );
        return text;
    }
    let _ = write!(
        text,
        "\n  fitted    to walks over believed links, at ridge {} (judges: {})",
        found.chosen.ridge, found.chosen.judge_ridge
    );
    let _ = write!(
        text,
        "\n  written   embeddings.npy is the {}; beliefs.csv says how far each of {} links is \
         believed",
        match found.averaged {
            true => "averaged embedding, embeddings-plain.npy the one before averaging",
            false => "embedding itself",
        },
        model.links().n_links(),
    );
    text
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
