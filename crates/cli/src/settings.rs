//! The settings of a fit as typed, and how they become `linkproof::Params`. The
//! options are those of the library's table.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use linkproof::error::{Subject, any_of};
use linkproof::params::{Group, Kind, Param};
use linkproof::{Error, Params};

use crate::config;

/// Every option that is a setting of the fit. What is not given stays as in
/// the configuration file, or else as `Params::default` has it.
#[derive(Debug, Clone, Default)]
pub struct SettingArgs {
    /// The file of settings.
    pub config: Option<PathBuf>,
    /// What was typed, in order.
    typed: Vec<(Param, String)>,
}

/// The settings that are options here, with the headings that they stand under.
fn options() -> impl Iterator<Item = (Param, &'static str)> {
    Param::ALL.iter().filter_map(|&param| {
        let heading = match param.setting().group {
            Group::Model => "What is fitted",
            Group::Solver => "How it is fitted",
            _ => return None,
        };
        Some((param, heading))
    })
}

fn option(param: Param, heading: &'static str) -> Arg {
    let setting = param.setting();
    let default = match setting.open {
        "" => Params::default().get(param),
        open => open.to_owned(),
    };
    let help = |more: &str| format!("{}{more} [default: {default}]", setting.help);
    let parser = ValueParser::new(move |text: &str| {
        let read = Params::default().set(param, text);
        read.map(|()| text.to_owned())
    });
    let arg = Arg::new(param.name())
        .long(param.name())
        .help_heading(heading)
        .allow_negative_numbers(true);
    match setting.kind {
        Kind::Choice(names) if param == Param::Encoder => arg
            .help(help(&format!(
                ": {}, or VIEW=KIND for one view; may be repeated",
                any_of(names)
            )))
            .value_name(setting.value_name)
            .action(ArgAction::Append)
            .value_parser(parser),
        Kind::Choice(names) => arg
            .help(help(""))
            .value_name(setting.value_name)
            .value_parser(PossibleValuesParser::new(names)),
        Kind::Flag => arg
            .help(help(""))
            .value_name(setting.value_name)
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .value_parser(parser),
        _ => arg
            .help(help(""))
            .value_name(setting.value_name)
            .value_parser(parser),
    }
}

impl Args for SettingArgs {
    fn augment_args(command: Command) -> Command {
        let config = Arg::new("config")
            .long("config")
            .value_name("FILE.toml")
            .value_parser(clap::value_parser!(PathBuf))
            .help_heading("Settings")
            .help("Settings in a TOML file, by the names of these options; the command line wins");
        let all = options().map(|(param, heading)| option(param, heading));
        command.arg(config).args(all)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for SettingArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let typed = options().flat_map(|(param, _)| {
            let values = matches.get_many::<String>(param.name());
            let values = values.into_iter().flatten();
            values.map(move |text| (param, text.clone()))
        });
        Ok(SettingArgs {
            config: matches.get_one::<PathBuf>("config").cloned(),
            typed: typed.collect(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl SettingArgs {
    /// The settings: the configuration file first, then the command line.
    pub fn params(&self, seed: Option<u64>) -> Result<Params, Error> {
        let mut params = match &self.config {
            Some(path) => config::read(path)?,
            None => Params::default(),
        };
        for (param, text) in &self.typed {
            let read = params.set(*param, text);
            read.map_err(|_| Error::param(*param, param.setting().accepted(), text))?;
        }
        if let Some(seed) = seed {
            params.seed = seed;
        }
        Ok(params)
    }

    /// Whether a setting was typed.
    pub fn is_typed(&self, param: Param) -> bool {
        self.typed.iter().any(|(typed, _)| *typed == param)
    }

    /// The settings that were given, on the command line or by the file.
    pub fn given(&self) -> Result<Vec<Given>, Error> {
        let typed = self.typed.iter().map(|(param, _)| Given {
            param: *param,
            place: None,
        });
        let mut given: Vec<Given> = typed.collect();
        if let Some(path) = &self.config {
            given.extend(config::names(path)?.into_iter().map(|(param, line)| Given {
                param,
                place: Some((path.clone(), line)),
            }));
        }
        Ok(given)
    }

    /// Names the file of settings in an error that one of its values made, however
    /// late that was found.
    pub fn in_config(&self, error: anyhow::Error) -> anyhow::Error {
        let known = error.downcast_ref::<Error>();
        let (Some(path), Some(Error::Param { subject, .. })) = (&self.config, known) else {
            return error;
        };
        let Subject::Param(param) = *subject else {
            return error;
        };
        let names = config::names(path).unwrap_or_default();
        let place = names.into_iter().find(|(name, _)| *name == param);
        match (place, error.downcast::<Error>()) {
            (Some((_, line)), Ok(error)) if !self.is_typed(param) => {
                config::InConfig::new(path, line, error).into()
            }
            (_, Ok(error)) => error.into(),
            (_, Err(other)) => other,
        }
    }
}

/// A setting that was given, and where in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// Its name.
    pub param: Param,
    place: Option<(PathBuf, u64)>,
}

impl std::fmt::Display for Given {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.place {
            Some((path, line)) => write!(f, "{}, line {line}: {}", path.display(), self.param),
            None => write!(f, "--{}", self.param),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linkproof::params::{EncoderKind, SolverKind};

    #[test]
    fn help_states_the_defaults() {
        let command = SettingArgs::augment_args(Command::new("fit"));
        for (name, default) in [
            ("dim", "64"),
            ("score", "moment"),
            ("ridge", "2"),
            ("hidden", "3000"),
            ("batch-norm", "false"),
            ("solver", "exact up to 20000 nodes"),
            ("lambda", "auto"),
        ] {
            let is_named = |arg: &&Arg| arg.get_long() == Some(name);
            let option = command.get_arguments().find(is_named);
            let help = option.and_then(Arg::get_help).unwrap().to_string();
            assert!(help.ends_with(&format!(" [default: {default}]")), "{help}");
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
            batch_norm: true,
            hidden: vec![5, 4],
            solver: Some(SolverKind::Sgd),
            encoder: Some(EncoderKind::Mlp),
            view_encoders: [("a".to_owned(), EncoderKind::Table)].into(),
            view_pairs: Some(vec![("a".into(), "b".into())]),
            beta: -1.0,
            seed: 7,
            ..Params::default()
        };
        assert_eq!(params, expected);
        assert!(settings.is_typed(Param::Lambda) && !settings.is_typed(Param::Ridge));
    }
}
