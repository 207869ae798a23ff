//! Wrong options: exit code 2, one paragraph, nothing written.

use crate::lab::Lab;

#[test]
fn parameters_out_of_range() {
    let lab = Lab::with_graph();
    for (option, name, given) in [
        ("--dim 0", "dim", "0"),
        ("--dim -1", "--dim", "-1"),
        ("--dim x", "--dim", "'x'"),
        ("--beta -1", "beta", "-1"),
        ("--beta nan", "beta", "NaN"),
        ("--beta inf", "beta", "inf"),
        ("--beta x", "--beta", "'x'"),
        ("--score best", "--score", "'best'"),
        ("--validation 1", "validation", "1"),
        ("--dropout 1.5", "dropout", "1.5"),
        ("--ridge -3", "ridge", "-3"),
        ("--hidden 5,0", "hidden", "0"),
        ("--lambda 2", "lambda", "pairs"),
        ("--lambda some", "--lambda", "'some'"),
        ("--optimizer lbfgs --solver sgd", "optimizer", "lbfgs"),
        ("--optimizer lbfgs --dropout 0.5", "optimizer", "lbfgs"),
        ("--encoder deep", "--encoder", "'deep'"),
        ("--encoder mlp", "encoder", "mlp"),
        ("--view-pairs a", "--view-pairs", "'a'"),
        ("--view-pairs a:b", "view-pairs", "a"),
        ("--duplicates min", "--duplicates", "min"),
        ("--format xml", "--format", "xml"),
        ("--steps 0", "steps", "0"),
        ("--threads 0", "--threads", "0"),
        ("--threads many", "--threads", "many"),
        ("--seed -1", "--seed", "-1"),
        ("--no-such-option", "--no-such-option", "fit --help"),
    ] {
        let line = format!("fit --links links.csv --out m {option}");
        lab.refused(&line, &[name, given]);
    }
}

#[test]
fn missing_options_and_commands() {
    let lab = Lab::new();
    lab.refused("", &["linkproof --help"]);
    lab.refused("fitt", &["fitt"]);
    lab.refused("fit", &["--links", "--out", "linkproof fit --help"]);
    lab.refused("score --model m", &["--pairs", "--out"]);
    lab.refused("evaluate --labels l.csv", &["--embeddings"]);
    lab.refused("cluster --embeddings y.npy --out c.csv", &["--clusters"]);
}

/// A card that is asked for is never passed over in silence.
#[test]
fn commands_without_fits_refuse_a_card() {
    let lab = Lab::with_graph();
    lab.ok("fit --links links.csv --dim 2 --steps 2 --out m");
    for line in [
        "update --model m --links links.csv --out u",
        "cluster --embeddings m/embeddings.npy --clusters 2 --out c.csv",
        "demo --out d",
    ] {
        lab.refused(
            &format!("{line} --device cuda"),
            &["--device cuda:0", "leave the option out"],
        );
    }
}

#[test]
fn outputs_that_cannot_be_written() {
    let lab = Lab::with_graph();
    let fit = "fit --links links.csv --dim 2 --steps 2";
    lab.refused(
        &format!("{fit} --out links.csv"),
        &["links.csv", "is a file"],
    );
    lab.refused(&format!("{fit} --out links.csv/m"), &["links.csv/m"]);
    lab.refused(&format!("{fit} --out ."), &["links.csv", "another folder"]);
    // Found out before the links are read.
    let line = "fit --links none.csv --out links.csv/m";
    lab.refused(line, &["links.csv/m"]);
    lab.ok(&format!("{fit} --out m"));
    lab.write("pairs.csv", "n1,n2\n");
    let score = "score --model m --pairs pairs.csv";
    lab.refused(&format!("{score} --out m"), &["m: is a folder"]);
    lab.refused(
        &format!("{score} --out pairs.csv/s.csv"),
        &["pairs.csv/s.csv"],
    );
}

#[test]
fn instructions_that_the_machine_lacks_are_refused() {
    let lab = Lab::with_graph();
    let fit = |instructions: &str| {
        let mut command = lab.command("fit --links links.csv --dim 2 --steps 2 --force --out m");
        command.env("LINKPROOF_INSTRUCTIONS", instructions);
        command.output().unwrap()
    };
    let refused = fit("sse9");
    assert_eq!(refused.status.code(), Some(2));
    let message = String::from_utf8(refused.stderr).unwrap();
    for part in ["LINKPROOF_INSTRUCTIONS", "sse9", "plain"] {
        assert!(message.contains(part), "{message}");
    }
    assert_eq!(fit("plain").status.code(), Some(0));
    assert!(
        lab.read("m/fit.json")
            .contains("\"instructions\": \"plain\"")
    );
}

#[test]
fn columns_stand_on_lines_of_their_own() {
    let help = Lab::new().ok("audit --help");
    for column in ["rank ", "trust ", "belief ", "false_discovery_rate"] {
        let line = format!("\n  {column}");
        assert!(help.contains(&line), "{column}: {help}");
    }
}

#[test]
fn help_lists_options_defaults_and_an_example() {
    let lab = Lab::new();
    let commands = [
        "fit",
        "embed",
        "score",
        "neighbors",
        "cluster",
        "evaluate",
        "objective",
    ];
    let all = lab.ok("--help");
    for command in commands {
        assert!(all.contains(command), "{all}");
        let help = lab.ok(&format!("{command} --help"));
        for part in [
            "Usage: linkproof",
            "--seed",
            "--threads",
            "--json",
            "EXAMPLE",
        ] {
            assert!(help.contains(part), "{command}: {part}\n{help}");
        }
    }
    assert!(lab.ok("fit --help").contains("[default: 0.1]"));
    let version = lab.ok("--version");
    assert_eq!(
        version,
        format!("linkproof {}\n", env!("CARGO_PKG_VERSION"))
    );
}
