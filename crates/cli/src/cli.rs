//! What can be typed: the commands and the options that all of them share.

use clap::{Arg, Args, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::commands::{
    audit, check, cluster, completions, datasets, demo, embed, evaluate, export, fit, gone,
    inspect, neighbors, objective, report, reproduce, score, select, update,
};
use crate::exit::Usage;
use crate::memory;
use crate::session::Session;
use linkproof_cuda::Choice;

/// Graph embedding that holds up when the links are wrong.
///
/// Fits vectors to the nodes of a weighted graph, from links alone or with a
/// data vector for each node, in a way that false links and corrupted weights
/// do not spoil.
#[derive(Debug, Parser)]
#[command(
    name = "linkproof",
    version,
    propagate_version = true,
    max_term_width = 100,
    after_help = "EXAMPLE\n  linkproof fit --links links.csv --features x.npy --robust --out model\n  \
                  linkproof cluster --model model --clusters 7 --out clusters.csv\n\n\
                  Exit codes: 0 done, 1 the run failed, 2 bad usage or bad input, 130 stopped by a signal."
)]
pub struct Cli {
    #[command(flatten)]
    shared: SharedArgs,
    #[command(subcommand)]
    command: Command,
}

/// The options that every command has.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Everywhere")]
pub struct SharedArgs {
    /// Seed of all randomness [default: 0]
    #[arg(long, value_name = "N", global = true, allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Threads to work with; never changes a result [default: all cores]
    #[arg(long, value_name = "N", global = true, allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Where fits are computed: auto, cpu, cuda or cuda:N; auto takes a card where there is one
    /// and the graph is large
    #[arg(long, value_name = "DEVICE", global = true, default_value_t)]
    pub device: Choice,
    /// The most memory to hold, such as 4GB; a fit that would need more is refused
    /// [default: what there is]
    #[arg(
        long,
        value_name = "SIZE",
        global = true,
        hide_short_help = true,
        value_parser = memory::amount
    )]
    pub max_memory: Option<u64>,
    /// The most that a packed file (.gz, .zst, Parquet) may become, such as 20GB
    /// [default: 1GB, or 100 times its size if that is more]
    #[arg(
        long,
        value_name = "SIZE",
        global = true,
        hide_short_help = true,
        value_parser = memory::amount
    )]
    pub max_unpacked: Option<u64>,
    /// Print neither progress nor a summary
    #[arg(long, global = true)]
    pub quiet: bool,
    /// Print one JSON object on standard output, and nothing else there
    #[arg(long, global = true)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::DemoArgs),
    Datasets(datasets::DatasetsArgs),
    Inspect(inspect::InspectArgs),
    Check(Box<check::CheckArgs>),
    Select(Box<select::SelectArgs>),
    Fit(Box<fit::FitArgs>),
    Embed(embed::EmbedArgs),
    Update(update::UpdateArgs),
    Audit(Box<audit::AuditArgs>),
    #[command(hide = true)]
    Smooth(gone::GoneArgs),
    Score(score::ScoreArgs),
    Neighbors(neighbors::NeighborsArgs),
    Cluster(cluster::ClusterArgs),
    Evaluate(evaluate::EvaluateArgs),
    Objective(objective::ObjectiveArgs),
    Report(report::ReportArgs),
    Export(export::ExportArgs),
    Reproduce(reproduce::ReproduceArgs),
    Completions(completions::CompletionsArgs),
    #[command(hide = true)]
    Man(gone::GoneArgs),
}

/// The options that a short help, `-h`, shows beside those of every command; `--help` shows
/// all.
const SHORT: [(&str, &[&str]); 2] = [
    (
        "fit",
        &[
            "links", "features", "nodes", "out", "force", "report", "robust", "select", "config",
            "dim", "score", "beta", "ridge", "encoder",
        ],
    ),
    (
        "select",
        &[
            "links",
            "features",
            "nodes",
            "out",
            "table",
            "plot",
            "scores",
            "betas",
            "ridges",
            "dims",
            "folds",
            "criterion",
            "config",
            "encoder",
        ],
    ),
];

impl Cli {
    /// What was typed, or why it cannot be.
    pub fn read() -> Result<Cli, clap::Error> {
        Cli::from_arg_matches_mut(&mut Cli::with_short_help().try_get_matches()?)
    }

    fn with_short_help() -> clap::Command {
        let shorten = |command: clap::Command, (name, shown): (&str, &[&str])| {
            let hidden = |arg: &Arg| !shown.contains(&arg.get_id().as_str());
            command.mut_subcommand(name, |command| {
                command.mut_args(|arg| {
                    let is_hidden = hidden(&arg);
                    arg.hide_short_help(is_hidden)
                })
            })
        };
        SHORT.into_iter().fold(Cli::command(), shorten)
    }

    /// Does what was asked.
    pub fn run(self) -> anyhow::Result<()> {
        if let (Choice::Cuda(_), false) = (self.shared.device, self.command.fits()) {
            let words = format!(
                "--device {}: this command computes on the processor alone; leave the option out",
                self.shared.device
            );
            return Err(Usage::new(words).into());
        }
        let session = Session::start(&self.shared)?;
        // On a thread of the pool: work that is handed over from outside wakes the
        // others anew at every step.
        rayon::scope(|_| self.run_in(&session))
    }

    fn run_in(self, session: &Session) -> anyhow::Result<()> {
        match self.command {
            Command::Demo(args) => demo::run(&args, session),
            Command::Datasets(args) => datasets::run(&args, session),
            Command::Inspect(args) => inspect::run(&args, session),
            Command::Check(args) => check::run(&args, session),
            Command::Select(args) => select::run(&args, session),
            Command::Fit(args) => fit::run(&args, session),
            Command::Embed(args) => embed::run(&args, session),
            Command::Update(args) => update::run(&args, session),
            Command::Audit(args) => audit::run(&args, session),
            Command::Smooth(_) => gone::refused(gone::SMOOTH),
            Command::Score(args) => score::run(&args, session),
            Command::Neighbors(args) => neighbors::run(&args, session),
            Command::Cluster(args) => cluster::run(&args, session),
            Command::Evaluate(args) => evaluate::run(&args, session),
            Command::Objective(args) => objective::run(&args, session),
            Command::Report(args) => report::run(&args, session),
            Command::Export(args) => export::run(&args, session),
            Command::Reproduce(args) => reproduce::run(&args, session),
            Command::Completions(args) => completions::run(&args, Cli::command(), session),
            Command::Man(_) => gone::refused(gone::MAN),
        }
    }
}

impl Command {
    /// Whether it makes fits, or foretells one, and so may use a card.
    fn fits(&self) -> bool {
        matches!(
            self,
            Command::Inspect(_) | Command::Select(_) | Command::Fit(_) | Command::Reproduce(_)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_help_is_short_and_a_long_one_has_all() {
        let mut cli = Cli::with_short_help();
        cli.build();
        for (name, most) in [("fit", 22), ("select", 22)] {
            let command = cli.find_subcommand_mut(name).unwrap();
            let options = |help: String| {
                let lines = help.lines().take_while(|line| !line.starts_with("EXAMPLE"));
                // Lines of text are indented further.
                let is_option =
                    |line: &&str| line.starts_with("  -") || line.starts_with("      --");
                lines.filter(is_option).count()
            };
            let short = options(command.render_help().to_string());
            let long = options(command.render_long_help().to_string());
            assert!(short <= most, "{name}: {short}");
            assert_eq!(long, command.get_arguments().count(), "{name}");
            assert!(long > 2 * short, "{name}: {long}");
            let heading = "\nOptimizers adam and sgd:\n";
            assert!(command.render_long_help().to_string().contains(heading));
        }
    }

    #[test]
    fn the_definition_is_sound_and_every_command_has_an_example() {
        let mut cli = Cli::command();
        cli.build();
        cli.clone().debug_assert();
        for command in cli.get_subcommands_mut() {
            if command.get_name() == "help" {
                continue;
            }
            let help = command.render_long_help().to_string();
            assert!(help.contains("EXAMPLE\n  linkproof "), "{help}");
            assert!(command.get_about().is_some(), "{help}");
        }
    }
}
