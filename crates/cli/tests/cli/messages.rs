//! Messages about inputs: what a file seems to be, where a value stands, and
//! nothing in them that a terminal would obey.

use crate::lab::Lab;

/// What a refused command says.
fn said(lab: &Lab, line: &str) -> String {
    let output = lab.run(line);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{line}\n{said}");
    assert_eq!(said.trim_end().lines().count(), 1, "{said}");
    said
}

/// Whether a text has only characters that are shown, and line ends.
fn is_plain(text: &str) -> bool {
    text.chars().all(|c| c == '\n' || !c.is_control())
}

#[test]
fn files_that_are_no_text_are_told() {
    let lab = Lab::new();
    let text = "a,b,1\nb,c,2\n";
    let wide =
        |bytes: fn(u16) -> [u8; 2]| -> Vec<u8> { text.encode_utf16().flat_map(bytes).collect() };
    lab.write("little.csv", wide(u16::to_le_bytes));
    lab.write("big.csv", wide(u16::to_be_bytes));
    lab.write(
        "marked.csv",
        [b"\xff\xfe".as_slice(), &wide(u16::to_le_bytes)].concat(),
    );
    for name in ["little.csv", "big.csv", "marked.csv"] {
        for line in [
            format!("fit --links {name} --out m"),
            format!("inspect --links {name}"),
            format!("evaluate --predicted {name} --labels {name}"),
        ] {
            lab.refused(&line, &[name, "UTF-16", "iconv"]);
        }
    }
    let far = format!("{}a,b\0c,1\n", "n1,n2,1\n".repeat(1000));
    lab.write("far.csv", far);
    lab.refused(
        "fit --links far.csv --duplicates first --out m",
        &["far.csv, line 1001", "zero byte", "binary"],
    );
    lab.write("table.csv", b"PAR1\x15\x04\x15");
    lab.refused("fit --links table.csv --out m", &["table.csv", "Parquet"]);
    lab.write("links.csv", text);
    lab.write("c.toml", wide(u16::to_le_bytes));
    lab.refused(
        "fit --links links.csv --config c.toml --out m",
        &["c.toml", "UTF-16"],
    );
}

#[test]
fn long_pieces_of_input_are_cut() {
    let lab = Lab::new();
    let long = "x".repeat(2_000_000);
    let cases = [
        ("weight.csv", format!("a,b,1\na,c,{long}\n")),
        ("twice.csv", format!("a,{long},1\na,{long},2\n")),
        ("self.csv", format!("{long},{long},1\n")),
        ("head.mtx", format!("%%{long}\n")),
        (
            "size.mtx",
            format!("%%MatrixMarket matrix coordinate real general\n{long}\n"),
        ),
    ];
    for (name, text) in cases {
        lab.write(name, text);
        let said = said(&lab, &format!("fit --links {name} --out m"));
        assert!(said.contains(name), "{said}");
        assert!(said.contains("…' (2000"), "{said}");
        assert!(said.len() < 700, "{name}: {}", said.len());
    }
    lab.write("links.csv", "a,b,1\nb,c,1\n");
    lab.write("x.csv", format!("a,1\nb,{long}\nc,1\n"));
    let said = said(&lab, "fit --links links.csv --features x.csv --out m");
    assert!(said.contains("x.csv, line 2") && said.len() < 500, "{said}");
}

#[test]
fn nothing_that_a_terminal_obeys_is_printed() {
    let lab = Lab::new();
    lab.write("weight.csv", "a,b,1\na,c,\x1b[2J\x07\n");
    let told = said(&lab, "fit --links weight.csv --out m");
    assert!(is_plain(&told), "{told:?}");
    assert!(told.contains("\\u{1b}[2J\\u{7}"), "{told}");
    let mut command = lab.command("fit --links weight.csv --out");
    let output = command
        .arg("\u{1b}[31m\u{202e}m")
        .arg("--dim")
        .arg("\u{1b}x")
        .output();
    let told = String::from_utf8(output.unwrap().stderr).unwrap();
    assert!(is_plain(&told), "{told:?}");
    // Summaries name nodes.
    let ids = ["\x1b[31mred", "b\x07", "c", "d"];
    let mut rows = String::new();
    for (i, a) in ids.iter().enumerate() {
        for b in &ids[..i] {
            rows.push_str(&format!("{a},{b},{}\n", 1 + i));
        }
    }
    lab.write("links.csv", rows);
    for line in [
        "inspect --links links.csv",
        "fit --links links.csv --dim 2 --out m",
        "audit --model m --links links.csv --out a.csv",
    ] {
        let words = lab.ok(line);
        assert!(is_plain(&words), "{words:?}");
        assert!(words.contains("\\u{"), "{words}");
    }
}

#[test]
fn a_setting_in_a_file_is_named_with_its_line() {
    let lab = Lab::with_graph();
    lab.write("c.toml", "# mine\ndim = 2\nbeta = -1\n");
    let fit = "fit --links links.csv --config c.toml --out m";
    lab.refused(
        fit,
        &["c.toml, line 3: beta must be between 0 and 10, but is -1"],
    );
    let select = "select --links links.csv --config c.toml";
    lab.refused(select, &["c.toml, line 3: beta must be"]);
    // What is typed wins, and is to blame.
    lab.ok(&format!("{fit} --beta 1 --quiet"));
    let typed = said(&lab, &format!("{fit} --beta -2 --force"));
    assert!(
        typed.starts_with("error: --beta must be between 0 and 10, but is -2"),
        "{typed}"
    );
    // Found only when the data are there.
    lab.write("v.toml", "dim = 2\nview-pairs = \"a:b\"\n");
    let late = "fit --links links.csv --config v.toml --out n";
    lab.refused(late, &["v.toml, line 2", "view-pairs"]);
}

#[test]
fn settings_without_effect_are_noted_wherever_they_are_given() {
    let lab = Lab::with_graph();
    let fit = "fit --links links.csv --dim 2 --steps 2 --force --out m";
    for (options, note) in [
        (
            "--hidden 10",
            "--hidden has no effect: only the mlp encoder reads it",
        ),
        (
            "--score likelihood --beta 0.5",
            "--beta has no effect: the likelihood score does not read it",
        ),
        (
            "--solver exact --sampler pairs",
            "--sampler has no effect: the exact solver draws no samples",
        ),
        (
            "--walks-weighted",
            "--walks-weighted has no effect: --walks is 0",
        ),
        (
            "--propagate 2",
            "--propagate has no effect: no encoder reads data vectors",
        ),
    ] {
        let said = lab.ok(&format!("{fit} {options}"));
        let notes: Vec<&str> = said
            .lines()
            .filter(|line| line.starts_with("Note "))
            .collect();
        assert!(notes.len() == 1 && notes[0].contains(note), "{said}");
    }
    lab.write("c.toml", "hidden = [10]\n");
    let said = lab.ok(&format!("{fit} --config c.toml"));
    assert!(said.contains("--hidden has no effect"), "{said}");
    // The file speaks of settings, not of options.
    assert!(lab.read("m/fit.json").contains("\"hidden has no effect"));
    let said = lab.ok(fit);
    assert!(!said.contains("has no effect"), "{said}");
}

#[test]
fn weights_that_are_too_large_are_named() {
    let lab = Lab::new();
    lab.write("links.csv", "a,b,1\nb,c,2\nc,d,1e308\nd,a,1\n");
    let line = "fit --links links.csv --dim 2";
    let what = [
        "links.csv, line 3",
        "1e308",
        "'c' and 'd'",
        "1e17",
        "--weights log1p",
    ];
    lab.refused(&format!("{line} --out m"), &what);
    let what = ["links.csv, line 3", "1e308", "1e86", "double precision"];
    lab.refused(&format!("{line} --precision f64 --out m"), &what);
    lab.ok(&format!("{line} --weights log1p --quiet --out m"));
    lab.ok(&format!(
        "{line} --score probability --beta 0.5 --quiet --out n"
    ));
}

#[test]
fn a_damaged_table_of_a_model_is_named() {
    let lab = Lab::with_graph();
    lab.ok("fit --links links.csv --dim 2 --format parquet --quiet --out m");
    for (name, line) in [
        ("m/links.parquet", "report m --out r.html --quiet"),
        (
            "m/embeddings.parquet",
            "cluster --embeddings m/embeddings.parquet --clusters 2 --out c.csv --quiet",
        ),
    ] {
        let sound = lab.bytes(name);
        let mut refused = 0;
        for place in (0..sound.len()).step_by(sound.len().div_ceil(60)) {
            let mut bytes = sound.clone();
            bytes[place] ^= 0xff;
            lab.write(name, bytes);
            let output = lab.run(line);
            let said = String::from_utf8(output.stderr).unwrap();
            match output.status.code() {
                Some(0) => assert_eq!(said, ""),
                Some(2) => {
                    assert!(said.contains(name), "{place}: {said}");
                    assert_eq!(said.trim_end().lines().count(), 1, "{said}");
                    refused += 1;
                }
                other => panic!("{name}, byte {place}: {other:?}\n{said}"),
            }
        }
        assert!(refused > 5, "{name}: {refused}");
        lab.write(name, sound);
    }
}
