//! `fit --robust`: the whole recipe, and what it found in words.

use std::fmt::Write;

use linkproof::Fitted;
use linkproof::params::Param;
use linkproof::trust::robust::{Implanted, OWN_SETTINGS, Recipe, RobustSummary, Trust};

use crate::exit::Usage;
use crate::settings::SettingArgs;

/// The rate at which the summary says what became of implants.
const SAID_RATE: f64 = 0.1;

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

/// What was found, for the summary of a fit.
pub fn words(model: &Fitted, found: &RobustSummary) -> String {
    let mut text = trust_in_words(&found.trust);
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
    let (number, least) = (found.gate, found.gate_opens_at);
    let told = number.map(|number| {
        format!(
            "clusters of averages tell held-back data {number:.2} times as well as clusters of \
             the embeddings alone (at least {least} is needed)"
        )
    });
    let _ = match (found.averaged, told) {
        (true, told) => write!(
            text,
            "\n  averaged  yes: {}",
            told.unwrap_or_else(|| "neither tells anything of held-back data".to_owned())
        ),
        (false, Some(told)) => write!(text, "\n  averaged  no: {told}"),
        (false, None) => write!(
            text,
            "\n  averaged  no: there are no data vectors to check averages with"
        ),
    };
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

/// What was found about the links, a line each.
pub fn trust_in_words(trust: &Trust) -> String {
    let chance = 100.0 * trust.auc_decoys;
    if trust.abstained {
        return format!(
            "\n  judged    no: links cannot be told from pairs without a link (a link has more to \
             say for it in {chance:.0}% of cases, chance is 50%).\n            No link is called \
             false, and all are believed alike"
        );
    }
    // False links are like pairs without one, and draw the chance towards a half.
    let of_sound = (trust.auc_decoys - 0.5 * trust.share_false) / (1.0 - trust.share_false);
    let agree = match of_sound {
        auc if auc >= 0.85 => "well",
        auc if auc >= 0.7 => "fairly well",
        _ => "hardly",
    };
    let mut text = format!(
        "\n  judged    about {:.0}% of the links are false\n  agreement sound links agree \
         {agree} with what is known of their ends: a link has more to say for it than a pair\n            without \
         one in {chance:.0}% of cases\n  evidence  {}",
        100.0 * trust.share_false,
        match trust.weights_spoke {
            true => "some weights speak for or against their links",
            false => "weights say nothing about which links are false",
        }
    );
    let said = |it: &&Implanted| it.asked == SAID_RATE;
    for it in trust.implanted.iter().filter(said) {
        let (implants, kind) = (it.implants, kind_in_words(it));
        let found = 100.0 * it.found;
        let _ = match it.suspects {
            0 => write!(
                text,
                "\n  checked   {implants} false links {kind}: none found"
            ),
            _ => write!(
                text,
                "\n  checked   {implants} false links {kind}: {found:.0}% found; sound among \
                 suspects: {:.0}% claimed, {:.0}% realised",
                100.0 * it.claimed,
                100.0 * it.realised
            ),
        };
    }
    text
}

fn kind_in_words(it: &Implanted) -> &'static str {
    use linkproof::trust::judge::pairs::Draw;
    match it.kind {
        Draw::Uniform => "put in at random",
        Draw::ByDegree => "put in by degree",
        Draw::Similar => "put in between similar nodes",
    }
}
