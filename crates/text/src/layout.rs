//! Sentences and tables in lines.

use serde::Serialize;

/// The widest line of a text.
const WIDTH: usize = 90;
/// The width of the column of topics.
const TOPICS: usize = 11;

/// What a sentence is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Topic {
    /// Whether to use the embedding.
    Use,
    /// The share of false links, contradictions and duplicates.
    Links,
    /// What became of planted links.
    Test,
    /// Whether features and links agree.
    Features,
    /// Heavy weights.
    Weights,
    /// Smoothing over believed links.
    Smoothing,
    /// How many dimensions carry information.
    Dimensions,
    /// Pairs that should be linked.
    Missing,
    /// What else to know.
    Note,
    /// What can be typed next.
    Next,
}

impl Topic {
    /// What stands before the first sentence about it.
    pub fn title(self) -> &'static str {
        match self {
            Topic::Use => "Use it",
            Topic::Links => "Links",
            Topic::Test => "Test",
            Topic::Features => "Features",
            Topic::Weights => "Weights",
            Topic::Smoothing => "Smoothing",
            Topic::Dimensions => "Dimensions",
            Topic::Missing => "Missing",
            Topic::Note => "Note",
            Topic::Next => "Next",
        }
    }
}

/// A sentence and what it is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Said {
    /// What it is about.
    pub about: Topic,
    /// The sentence; of [`Topic::Next`], a command.
    pub says: String,
}

impl Said {
    /// A sentence about a topic.
    pub fn new(about: Topic, says: impl Into<String>) -> Said {
        let says = says.into();
        Said { about, says }
    }
}

/// Sentences in lines, the first about a topic behind its title. Commands stay whole, below
/// an empty line.
pub fn topics(said: &[Said]) -> String {
    let mut text = String::new();
    let mut before = None;
    for Said { about, says } in said {
        let is_first = before.replace(*about) != Some(*about);
        let title = if is_first || *about == Topic::Note {
            about.title()
        } else {
            ""
        };
        let title = format!("{title:<TOPICS$}");
        text += &match about {
            Topic::Next if is_first => format!("\n{title} {says}\n"),
            Topic::Next => format!("{title} {says}\n"),
            _ => wrapped(&title, says) + "\n",
        };
    }
    text
}

/// A text in lines, behind what stands before its first word; the other lines begin
/// below that word.
pub fn wrapped(before: &str, text: &str) -> String {
    let indent = " ".repeat(before.chars().count());
    let (mut lines, mut line) = (String::new(), before.to_owned());
    for word in text.split_whitespace() {
        let length = line.chars().count();
        if length + 1 + word.chars().count() > WIDTH && length > indent.len() {
            lines.push_str(&line);
            lines.push('\n');
            line.clone_from(&indent);
        }
        line.push(' ');
        line.push_str(word);
    }
    lines + &line
}

/// Rows whose columns stand below each other, the first row being their names: columns of
/// these names at the left, all others at the right.
pub fn aligned(rows: &[Vec<String>], left: &[&str]) -> Vec<String> {
    let head = rows.first().map_or(&[][..], Vec::as_slice);
    let width = |column: usize| {
        let lengths = rows.iter().map(|row| row[column].chars().count());
        lengths.max().unwrap_or(0)
    };
    let columns: Vec<(usize, bool)> = (head.iter().enumerate())
        .map(|(column, name)| (width(column), left.contains(&name.as_str())))
        .collect();
    let line = |row: &Vec<String>| {
        let cells = row
            .iter()
            .zip(&columns)
            .map(|(cell, &(width, is_left))| match is_left {
                true => format!("{cell:<width$}"),
                false => format!("{cell:>width$}"),
            });
        let line = cells.collect::<Vec<_>>().join("  ");
        line.trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_broken_between_words() {
        assert_eq!(wrapped("  -", "short"), "  - short");
        let text = wrapped("  -", &"word ".repeat(30));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("  - word") && lines[1].starts_with("    word"));
        let fits = |line: &&str| line.len() <= 90 && !line.ends_with(' ');
        assert!(lines.iter().all(fits));
        assert_eq!(text.matches("word").count(), 30);
        // A word that is too long stands alone.
        assert_eq!(wrapped("  -", &"x".repeat(200)).lines().count(), 1);
    }

    #[test]
    fn the_first_sentence_of_a_topic_stands_behind_its_title() {
        let said = [
            Said::new(Topic::Links, "One."),
            Said::new(Topic::Links, "Two."),
            Said::new(Topic::Next, "linkproof report model"),
            Said::new(Topic::Next, "linkproof check"),
        ];
        assert_eq!(
            topics(&said),
            "Links       One.\n            Two.\n\nNext        linkproof report model\n            \
             linkproof check\n"
        );
        let said = serde_json::json!(said[0]);
        assert_eq!(
            said,
            serde_json::json!({ "about": "links", "says": "One." })
        );
    }

    #[test]
    fn columns_stand_below_each_other() {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let rows = [
            row(["rank", "node", "mu"]),
            row(["1", "\u{e9}t\u{e9}-long", "0.5"]),
        ];
        assert_eq!(
            aligned(&rows, &["node"]),
            ["rank  node       mu", "   1  \u{e9}t\u{e9}-long  0.5"]
        );
    }
}
