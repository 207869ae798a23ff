//! `fit --robust`: the whole recipe, and what it found in words.

use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use linkproof::folds::Watcher;
use linkproof::robust::{Implanted, Recipe, Robust, RobustSummary, Trust, fit_robust};
use linkproof::{CheckedParams, Dataset, Error, Fitted};

use crate::exit::Usage;
use crate::progress::Progress;
use crate::session::Session;
use crate::settings::SettingArgs;

/// The rate at which the summary says what became of implants.
const SAID_RATE: f64 = 0.1;

/// Settings that the recipe makes itself, and why.
const ITS_OWN: [(&str, &str); 9] = [
    ("score", "it fits the likelihood of believed links"),
    ("beta", "it believes links by evidence, not by beta"),
    (
        "weights",
        "it reads weights as evidence, whatever their unit",
    ),
    ("propagate", "it decides about averages itself"),
    ("walks", "it walks over believed links"),
    (
        "walks-weighted",
        "it walks over links by how far they are believed",
    ),
    ("validation", "its last fit holds no pairs out"),
    ("lambda", "it takes the weight of all pairs that is exact"),
    ("view-pairs", "it takes all pairs of views that have links"),
];

/// What the recipe found.
pub struct Recommended {
    pub robust: Robust,
    pub summary: RobustSummary,
    /// Of the whole recipe.
    pub seconds: f64,
}

/// The recipe, with a ridge that was given. Other settings that are the recipe's
/// own must not be.
pub fn recipe(settings: &SettingArgs) -> anyhow::Result<Recipe> {
    let given = settings.given()?;
    for (name, why) in ITS_OWN {
        let Some(given) = given.iter().find(|given| given.name == name) else {
            continue;
        };
        return Err(Usage::new(format!(
            "{given}: does not go with --robust: {why}; expected one of the two"
        ))
        .into());
    }
    let mut recipe = Recipe::default();
    if let Some(ridge) = settings.ridge(&given)? {
        recipe.ridges = vec![ridge];
    }
    Ok(recipe)
}

/// Most fits that judge links.
pub fn most_fits(recipe: &Recipe) -> usize {
    match recipe.ridges.len() {
        0 | 1 => recipe.folds,
        ridges => {
            let compared = recipe.compared_folds.clamp(1, recipe.folds);
            ridges * compared + recipe.folds - compared
        }
    }
}

/// Shows how many fits are done, over all stages of a search for the ridge.
pub fn counting<R>(recipe: &Recipe, progress: &Progress, work: impl FnOnce(Watcher<'_>) -> R) -> R {
    let (done, most) = (AtomicUsize::new(0), most_fits(recipe));
    work(Watcher {
        after_fit: &|_, _| progress.fits(done.fetch_add(1, Ordering::Relaxed) + 1, most),
        goes_on: &|| !Session::is_stopped(),
    })
}

/// Runs the recipe.
pub fn fit(
    params: &CheckedParams,
    data: &Dataset,
    recipe: Recipe,
    progress: &Progress,
) -> Result<(Fitted, Recommended), Error> {
    let clock = Instant::now();
    let robust = counting(&recipe, progress, |watcher| {
        fit_robust(params, data, &recipe, watcher)
    })?;
    let model = robust.to_model(data)?;
    let found = Recommended {
        summary: robust.summary(&recipe),
        robust,
        seconds: clock.elapsed().as_secs_f64(),
    };
    Ok((model, found))
}

impl Recommended {
    /// What was found, for the summary of a fit.
    pub fn words(&self, params: &CheckedParams) -> String {
        let (found, robust) = (&self.summary, &self.robust);
        let mut text = trust_in_words(&found.trust);
        if found.trust.abstained {
            let _ = write!(
                text,
                "\n  fitted    the plain fit to all links, at ridge {}\n  written   embeddings.npy \
                 is the plain embedding; beliefs.csv holds the same belief for each link",
                params.ridge
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
                "averages tell {number:.2} times as much of held-back data as the embeddings \
                 themselves (at least {least} is asked)"
            )
        });
        let _ = match (found.averaged, told) {
            (true, told) => write!(
                text,
                "\n  averaged  yes: {}",
                told.unwrap_or_else(|| "held-back data vectors are told by neither".to_owned())
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
            robust.judgement.links.len(),
        );
        text
    }
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
            false => "weights tell nothing of which links are false",
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
    use linkproof::judge::pairs::Draw;
    match it.kind {
        Draw::Uniform => "put in at random",
        Draw::ByDegree => "put in by degree",
        Draw::Similar => "put in between similar nodes",
    }
}
