//! The settings of a fit, as typed and in a file. Both are read as options: those of
//! `linkproof::Params`, and `--encoder`, which may be of one view.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use linkproof::error::Subject;
use linkproof::params::EncoderKind;
use linkproof::{Error, Params};
use serde_json::Value;

use crate::config::{self, Entry, InConfig};

/// Every option that is a setting of the fit. What is not given stays as in
/// the configuration file, or else as `Params::default` has it.
#[derive(Debug, Clone, Default)]
pub struct SettingArgs {
    /// The file of settings.
    pub config: Option<PathBuf>,
    typed: ArgMatches,
}

/// An encoder, perhaps of one view only.
type ViewEncoder = (Option<String>, Option<EncoderKind>);

fn view_encoder(text: &str) -> Result<ViewEncoder, String> {
    let (view, kind) = match text.rsplit_once('=') {
        None => (None, text),
        Some(("", _)) => return Err("expected KIND or VIEW=KIND".to_owned()),
        Some((view, kind)) => (Some(view.to_owned()), kind),
    };
    match kind {
        "auto" if view.is_none() => Ok((None, None)),
        kind => Ok((view, Some(kind.parse()?))),
    }
}

/// The options, with their defaults in their help.
pub fn options() -> Vec<Arg> {
    let defaults = serde_json::to_value(Params::default()).unwrap_or_default();
    let encoder = Arg::new("encoder")
        .long("encoder")
        .value_name("[VIEW=]KIND")
        .action(ArgAction::Append)
        .value_parser(view_encoder)
        .help_heading("What is fitted")
        .help(
            "Map from data vectors to embeddings: linear, mlp or table, or VIEW=KIND for one view; \
             may be repeated [default: linear with features, table without]",
        );
    let command = Params::augment_args_for_update(Command::new("settings")).arg(encoder);
    let option = |arg: &Arg| {
        let name = arg.get_long().unwrap_or_default();
        let arg = arg.clone().allow_negative_numbers(true);
        match (arg.get_help(), default_in_words(&defaults[name])) {
            (Some(help), Some(default)) => {
                let help = format!("{help} [default: {default}]");
                arg.help(help)
            }
            _ => arg,
        }
    };
    command.get_arguments().map(option).collect()
}

/// A default as it would be typed; none where a setting is left open.
fn default_in_words(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(name) => Some(name.clone()),
        Value::Array(values) => {
            let words: Option<Vec<String>> = values.iter().map(default_in_words).collect();
            Some(words?.join(","))
        }
        value => Some(value.as_f64().map_or(value.to_string(), |x| x.to_string())),
    }
}

/// Takes over what options say.
pub fn apply(params: &mut Params, options: &ArgMatches) -> Result<(), clap::Error> {
    params.update_from_arg_matches(options)?;
    let encoders = options.get_many::<ViewEncoder>("encoder");
    for (view, kind) in encoders.into_iter().flatten() {
        match (view, kind) {
            (Some(view), Some(kind)) => {
                params.view_encoders.insert(view.clone(), *kind);
            }
            _ => params.encoder = *kind,
        }
    }
    Ok(())
}

impl Args for SettingArgs {
    fn augment_args(command: Command) -> Command {
        let config = Arg::new("config")
            .long("config")
            .value_name("FILE.toml")
            .value_parser(clap::value_parser!(PathBuf))
            .help_heading("Settings")
            .help("Settings in a TOML file, by the names of these options; the command line wins");
        command.arg(config).args(options())
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for SettingArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(SettingArgs {
            config: matches.get_one::<PathBuf>("config").cloned(),
            typed: matches.clone(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl SettingArgs {
    /// The settings: the configuration file first, then the command line.
    pub fn params(&self, seed: Option<u64>) -> anyhow::Result<Params> {
        let mut params = Params::default();
        for entry in self.entries()? {
            entry.apply(&mut params)?;
        }
        apply(&mut params, &self.typed)?;
        params.seed = seed.unwrap_or(params.seed);
        Ok(params)
    }

    fn entries(&self) -> Result<Vec<Entry>, Error> {
        self.config.as_deref().map_or(Ok(Vec::new()), config::read)
    }

    /// Whether a setting was typed.
    pub fn is_typed(&self, name: &str) -> bool {
        let id = name.replace('-', "_");
        self.typed.try_contains_id(&id).unwrap_or(false)
    }

    /// How a setting was given, on the command line or in the file, if it was.
    pub fn given(&self, name: &str) -> Result<Option<String>, Error> {
        if self.is_typed(name) {
            return Ok(Some(format!("--{name}")));
        }
        let entry = self.entries()?.into_iter().find(|entry| entry.name == name);
        Ok(entry.map(|entry| format!("{}: {name}", entry.place())))
    }

    /// Names the file of settings in an error that one of its values made, however
    /// late that was found.
    pub fn in_config(&self, error: anyhow::Error) -> anyhow::Error {
        let subject = match error.downcast_ref::<Error>() {
            Some(Error::Param { subject, .. }) => subject,
            _ => return error,
        };
        let entry = match subject {
            Subject::Argument(name) if !self.is_typed(name) => {
                let mut entries = self.entries().unwrap_or_default().into_iter();
                entries.find(|entry| entry.name == *name)
            }
            _ => None,
        };
        match (entry, error.downcast::<Error>()) {
            (Some(entry), Ok(error)) => InConfig::new(&entry, error).into(),
            (None, Ok(error)) => error.into(),
            (_, Err(other)) => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkproof::params::{Mlp, SolverKind};

    #[test]
    fn help_states_the_defaults() {
        let options = options();
        for (name, default) in [
            ("dim", "64"),
            ("score", "moment"),
            ("ridge", "2; a robust fit chooses it"),
            ("hidden", "3000"),
            ("batch-norm", "false"),
            ("schedule-t0", "100"),
            ("solver", "exact up to 20000 nodes"),
            ("lambda", "auto"),
        ] {
            let is_named = |arg: &&Arg| arg.get_long() == Some(name);
            let option = options.iter().find(is_named);
            let help = option.and_then(Arg::get_help).unwrap().to_string();
            assert!(help.ends_with(&format!(" [default: {default}]")), "{help}");
        }
    }

    #[test]
    fn every_setting_is_an_option() {
        let names = serde_json::to_value(Params::default()).unwrap();
        let options = options();
        for name in names.as_object().unwrap().keys() {
            let is_named = |arg: &Arg| arg.get_long() == Some(name.as_str());
            let apart = ["seed", "view-encoders"].contains(&name.as_str());
            assert_eq!(options.iter().any(is_named), !apart, "{name}");
        }
    }

    #[test]
    fn what_is_typed_becomes_settings() {
        let line = "fit --dim 3 --batch-norm --hidden 5,4 --solver sgd --encoder mlp \
                    --encoder a=table --lambda auto --view-pairs a:b --beta=-1";
        let command = SettingArgs::augment_args(Command::new("fit"));
        let matches = command
            .try_get_matches_from(line.split_whitespace())
            .unwrap();
        let settings = SettingArgs::from_arg_matches(&matches).unwrap();
        let params = settings.params(Some(7)).unwrap();
        let expected = Params {
            dim: 3,
            mlp: Mlp {
                batch_norm: true,
                hidden: vec![5, 4],
                ..Mlp::default()
            },
            solver: Some(SolverKind::Sgd),
            encoder: Some(EncoderKind::Mlp),
            view_encoders: [("a".to_owned(), EncoderKind::Table)].into(),
            view_pairs: Some(vec![("a".into(), "b".into())]),
            beta: -1.0,
            seed: 7,
            ..Params::default()
        };
        assert_eq!(params, expected);
        assert!(settings.is_typed("lambda") && !settings.is_typed("ridge"));
    }
}
