//! `fit --robust`: the whole recipe.

use linkproof::params::Param;
use linkproof::robust::{OWN_SETTINGS, Recipe};

use crate::exit::Usage;
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
