use super::*;

const BANNER: &str = "%%MatrixMarket matrix coordinate real general\n% a comment\n\n";

fn matrix(text: &str) -> Result<Matrix> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.mtx");
    std::fs::write(&path, text).unwrap();
    read_matrix(Source::open(&path).unwrap(), 8)
}

#[test]
fn matrices_of_each_kind() {
    let m = matrix(&format!("{BANNER}2 3 3\n2 3 1.5\n\n1 1 -2\n 2  1 4e0\n")).unwrap();
    assert_eq!((m.n_rows(), m.n_columns()), (2, 3));
    assert_eq!(m.row(0), [(0, -2.0)]);
    assert_eq!(m.row(1), [(0, 4.0), (2, 1.5)]);
    let m = matrix("%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n");
    let m = m.unwrap();
    assert_eq!(m.row(0), [(1, 1.0)]);
    assert_eq!(m.row(1), [(0, 1.0)]);
    assert_eq!(m.row(2), [(2, 1.0)]);
    let m = matrix("%%matrixmarket MATRIX array integer general\r\n2 2\r\n1\r\n2\r\n3\r\n4");
    let m = m.unwrap();
    assert_eq!(m.row(0), [(0, 1.0), (1, 3.0)]);
    assert_eq!(m.row(1), [(0, 2.0), (1, 4.0)]);
}

#[test]
fn wrong_matrices_name_their_line() {
    let sized = |rest: &str| format!("{BANNER}2 3 2\n1 1 1\n{rest}");
    let cases = [
        (String::new(), 1, "''"),
        ("1 2 3\n".to_owned(), 1, "'1 2 3'"),
        (BANNER.replace("real", "complex"), 1, "complex"),
        (BANNER.replace("general", "skew-symmetric"), 1, "skew"),
        (format!("{BANNER}2 x 2\n"), 4, "'2 x 2'"),
        (format!("{BANNER}2 2\n"), 4, "'2 2'"),
        (format!("{BANNER}2000000000 5 1\n1 1 1\n"), 4, "2000000000"),
        (format!("{BANNER}99999999999999999999 5 1\n"), 4, "9999"),
        (sized("3 1 1\n"), 6, "row index '3'"),
        (sized("1 4 1\n"), 6, "column index '4'"),
        (sized("0 1 1\n"), 6, "row index '0'"),
        (sized("-1 1 1\n"), 6, "row index '-1'"),
        (sized("1 2 x\n"), 6, "'x'"),
        (sized("1 2 nan\n"), 6, "'nan'"),
        (sized("1 2\n"), 6, "'1 2'"),
        (sized("1 1 5\n"), 6, "the entry 1 1 again"),
        (sized(""), 4, "promises 2"),
        (sized("1 2 1\n2 2 1\n"), 4, "promises 2"),
    ];
    for (text, line, what) in cases {
        match matrix(&text).unwrap_err() {
            Error::Input {
                line: found_line,
                found,
                ..
            } => {
                assert_eq!(found_line, Some(line), "{found}");
                assert!(found.contains(what), "{found}");
            }
            other => panic!("{other}"),
        }
    }
}
