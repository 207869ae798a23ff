//! Options of a judgment of links, and what they do: `check`, `fit --robust` and `audit`
//! share them.

use std::path::{Path, PathBuf};

use clap::Args;
use linkproof::io::{self, Check, MergedChecks, VerifiedLinks, check_files, read_checks};
use linkproof::judge::{EvidenceColumn, JudgeSpec};
use linkproof::{Error, Graph};

use crate::args::{quoted, real, whole};
use crate::exit::Usage;

/// What links are judged by.
#[derive(Debug, Clone, Args)]
pub struct EvidenceArgs {
    /// Columns of the links' file that are evidence about each link, too: larger is
    /// likelier real, or the other way round. An empty cell is no evidence
    #[arg(
        long,
        value_name = "COL[,COL]",
        value_delimiter = ',',
        requires = "links",
        help_heading = "Inputs"
    )]
    pub evidence: Vec<String>,
    /// Each node has at most one real partner: records of one thing in two catalogues
    #[arg(long, requires = "links", help_heading = "Inputs")]
    one_to_one: bool,
    /// Leave out the test with planted links
    #[arg(long, requires = "links")]
    no_test: bool,
}

impl EvidenceArgs {
    /// The first option that is given.
    pub fn given(&self) -> Option<&'static str> {
        let given = [
            (!self.evidence.is_empty(), "--evidence"),
            (self.one_to_one, "--one-to-one"),
            (self.no_test, "--no-test"),
        ];
        given
            .iter()
            .find(|(given, _)| *given)
            .map(|(_, flag)| *flag)
    }

    /// Whether planted links test the judge.
    pub fn tests(&self) -> bool {
        !self.no_test
    }

    /// How the links of a file are judged, of which some columns are evidence.
    pub fn spec(&self, columns: Vec<EvidenceColumn>, seed: u64) -> JudgeSpec {
        JudgeSpec {
            seed,
            one_to_one: self.one_to_one,
            columns,
            test: !self.no_test,
            ..JudgeSpec::default()
        }
    }
}

/// Links that a person verifies.
#[derive(Debug, Clone, Args)]
pub struct ChecksArgs {
    /// Draw this many links to verify, into sample.csv in the folder; 30 are a good start
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole)]
    pub sample: Option<usize>,
    /// Verified links: src,dst,real, where real is 1, 0 or empty; other columns are
    /// ignored
    #[arg(long, value_name = "FILE")]
    pub checked: Option<PathBuf>,
}

/// Verified links as read.
pub struct Verified {
    kept: Option<VerifiedLinks>,
    new: Option<VerifiedLinks>,
    /// The sample that would be replaced, with its answers.
    sample: Option<(PathBuf, VerifiedLinks)>,
}

impl ChecksArgs {
    /// The first option that is given.
    pub fn given(&self) -> Option<&'static str> {
        match (&self.sample, &self.checked) {
            (Some(_), _) => Some("--sample"),
            (_, Some(_)) => Some("--checked"),
            _ => None,
        }
    }

    /// Refuses a sample of nothing.
    pub fn check(&self) -> Result<(), Usage> {
        match self.sample {
            Some(0) => Err(Usage::new(
                "--sample must be a whole number of 1 or more, but is 0",
            )),
            _ => Ok(()),
        }
    }

    /// Reads the verified links that are given and those that the folder of a check or
    /// model keeps.
    pub fn read(&self, folder: Option<&Path>) -> Result<Verified, Error> {
        let there = |name: &str| {
            let path = folder.map(|folder| folder.join(name));
            path.filter(|path| path.exists())
        };
        let sample = self.sample.and_then(|_| there(check_files::SAMPLE));
        let sample = sample.map(|path| read_checks(&path).map(|answers| (path, answers)));
        Ok(Verified {
            new: self.checked.as_ref().map(read_checks).transpose()?,
            kept: there(check_files::CHECKED).map(read_checks).transpose()?,
            sample: sample.transpose()?,
        })
    }

    /// Draws the links to verify, if that is asked for.
    pub fn write_sample(&self, check: &Check, seed: u64, folder: &Path) -> Result<(), Error> {
        let Some(count) = self.sample else {
            return Ok(());
        };
        io::write_sample(folder, check, &check.judgment.sample(count, seed))
    }
}

impl Verified {
    /// All of them, about links that are known by now. Refuses to replace a sample with
    /// answers that nobody has read.
    pub fn merged(
        &self,
        links: impl FnOnce() -> Result<Graph, Error>,
    ) -> anyhow::Result<MergedChecks> {
        let merged = match (&self.kept, &self.new) {
            (None, None) => MergedChecks::default(),
            (kept, new) => MergedChecks::new(&links()?, kept.as_ref(), new.as_ref())?,
        };
        let Some((path, answers)) = &self.sample else {
            return Ok(merged);
        };
        let unread = answers.checks.iter().filter(|it| !merged.has(it)).count();
        if unread == 0 {
            return Ok(merged);
        }
        let shown = path.display().to_string();
        Err(Usage::new(format!(
            "--sample: {shown} holds {unread} answers that no check has read, and would be \
             replaced; expected --checked {} too",
            quoted(&shown)
        ))
        .into())
    }

    /// Whether there are new ones.
    pub fn is_extended(&self) -> bool {
        self.new.is_some()
    }
}

/// What becomes of judged links.
#[derive(Debug, Clone, Args)]
pub struct SuspectArgs {
    /// Print this many of the most suspicious links
    #[arg(long, value_name = "N", default_value = "20", allow_negative_numbers = true, value_parser = whole)]
    pub top: usize,
    /// Flag links by belief, as long as at most this share of the flagged is real
    /// [default: all with a belief below 0.5]
    #[arg(long, value_name = "R", alias = "false-discovery-rate", allow_negative_numbers = true, value_parser = real)]
    pub rate: Option<f64>,
    /// File to write with the links worth keeping: all that are not flagged
    #[arg(long, value_name = "FILE")]
    pub clean: Option<PathBuf>,
    /// Leave the N most suspicious links out of --clean instead
    #[arg(long, value_name = "N", requires = "clean", conflicts_with_all = ["rate", "min_belief"],
          allow_negative_numbers = true, value_parser = whole)]
    drop: Option<usize>,
    /// Leave links with a smaller belief out of --clean instead
    #[arg(long, value_name = "B", requires = "clean", conflicts_with = "rate",
          allow_negative_numbers = true, value_parser = real)]
    min_belief: Option<f64>,
    #[command(flatten)]
    pub checks: ChecksArgs,
}

impl SuspectArgs {
    /// Refuses numbers that cannot be.
    pub fn check(&self) -> Result<(), Usage> {
        for (name, share) in [("rate", self.rate), ("min-belief", self.min_belief)] {
            if let Some(share) = share
                && !(0.0..=1.0).contains(&share)
            {
                return Err(Usage::new(format!(
                    "--{name} must be a number between 0 and 1, but is {share}"
                )));
            }
        }
        self.checks.check()
    }

    /// Flags links by `--rate`; verified ones keep their flags.
    pub fn flag(&self, check: &mut Check) {
        let Some(rate) = self.rate else { return };
        let flagged = check.judgment.at_rate(rate);
        for link in &mut check.judgment.links {
            link.suspect = link.verified == Some(false);
        }
        for place in flagged {
            let link = &mut check.judgment.links[place];
            link.suspect = link.verified != Some(true);
        }
    }

    /// The places of the links that `--clean` keeps.
    pub fn kept_places(&self, check: &Check) -> Vec<usize> {
        let links = &check.judgment.links;
        let is_kept = |place: &usize| {
            let link = &links[*place];
            match (self.drop, self.min_belief) {
                (Some(count), _) => link.rank > count,
                (None, Some(least)) => link.belief >= least,
                (None, None) => !link.suspect,
            }
        };
        (0..links.len()).filter(is_kept).collect()
    }

    /// Writes the links worth keeping, unless nobody could judge them. `order` says where
    /// their order is.
    pub fn write_clean(&self, check: &Check, order: &str) -> anyhow::Result<()> {
        let Some(path) = &self.clean else {
            return Ok(());
        };
        let path_shown = path.display();
        if check.judgment.facts.abstained && self.drop.is_none() {
            anyhow::bail!(
                "--clean {path_shown}: not written, since the links look random to everything that \
                 is known, and none can be called false. {order} has their order: give --drop N to \
                 leave out the first N"
            )
        }
        let kept = self.kept_places(check);
        if kept.is_empty() {
            anyhow::bail!(
                "--clean {path_shown}: not written, since no link is left; give a smaller --drop \
                 or --min-belief"
            )
        }
        Ok(io::write_links(path, &check.graph(kept.into_iter())?)?)
    }
}
