//! `fit --robust`: the whole recipe.

use linkproof::robust::OWN_SETTINGS;

use crate::exit::Usage;
use crate::settings::SettingArgs;

/// Refuses settings that the recipe makes itself. A ridge may be given.
pub fn check(settings: &SettingArgs) -> anyhow::Result<()> {
    for (name, why) in OWN_SETTINGS {
        if let Some(given) = settings.given(name)? {
            let words =
                format!("{given} does not go with --robust: {why}; expected one of the two");
            return Err(Usage::new(words).into());
        }
    }
    Ok(())
}
