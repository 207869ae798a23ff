use super::*;

fn records(name: &str, text: &[u8], size: usize) -> Result<Vec<(u64, Vec<String>)>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    let mut found = Vec::new();
    Blocks::open(Source::open(&path)?, size)?.visit(|line, fields| {
        found.push((line, fields.iter().map(ToString::to_string).collect()));
        Ok(true)
    })?;
    Ok(found)
}

fn row(line: u64, fields: &[&str]) -> (u64, Vec<String>) {
    (line, fields.iter().map(ToString::to_string).collect())
}

#[test]
fn quotes_line_ends_and_blanks_at_any_block_size() {
    let text = b"\xef\xbb\xbf a , b\r\n\r\n\"x, \"\"y\"\"\nz\" ,\" q \"\n  \n5\",\"\"\r\n,7\nlast, \"one\"";
    let expected = [
        row(1, &["a", "b"]),
        row(3, &["x, \"y\"\nz", " q "]),
        row(6, &["5\"", ""]),
        row(7, &["", "7"]),
        row(8, &["last", "one"]),
    ];
    for size in [1, 2, 3, 5, 8, 13, 21, 1000] {
        assert_eq!(records("a.csv", text, size).unwrap(), expected, "{size}");
    }
}

#[test]
fn other_text_has_its_delimiter_found_out() {
    for (name, text) in [
        ("a.txt", "# x\n%y\n\n  a \"b c\"  \n% \te\n"),
        ("a", "#,\n% y\n\na\tb c\n%\te"),
        ("a.edges", "#\n%\n\na,b c\n%,e"),
    ] {
        for size in [1, 7, 1000] {
            let found = records(name, text.as_bytes(), size).unwrap();
            assert_eq!(
                found,
                [row(4, &["a", "b c"]), row(5, &["%", "e"])],
                "{name}"
            );
        }
    }
    assert_eq!(
        records("a.csv", b"#a,b c\n% d,e", 4).unwrap(),
        [row(1, &["#a", "b c"]), row(2, &["% d", "e"])]
    );
    assert!(records("a.txt", b"", 4).unwrap().is_empty());
}

#[test]
fn broken_text_is_an_error_with_its_line() {
    for (text, line, what) in [
        (b"a,b\nc,\xff\n".as_slice(), 2, "0xff"),
        (b"a,b\n\"c,d\ne,f\n", 2, "never closed"),
        (b"a,b\n\n\"c\"x,d\ne,f\n", 3, "after the closing quote"),
    ] {
        for size in [2, 100] {
            match records("a.csv", text, size).unwrap_err() {
                Error::Input {
                    line: found_line,
                    found,
                    ..
                } => {
                    assert_eq!(found_line, Some(line));
                    assert!(found.contains(what), "{found}");
                }
                other => panic!("{other}"),
            }
        }
    }
}

#[test]
fn numbers_are_those_of_the_standard_library() {
    for text in [
        "0",
        "7",
        "123456789012345",
        "1234567890123456789",
        "1.5",
        "-3",
        "1e400",
    ] {
        assert_eq!(number(text), text.parse().ok(), "{text}");
    }
    assert!(number("NaN").is_some_and(f64::is_nan));
    for text in ["", "x", "1x", "0x1", "1 2", "--1", "1,5"] {
        assert_eq!(number(text), None, "{text}");
    }
}
