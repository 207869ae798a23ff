use arrow_array::{Int64Array, UInt64Array};

use super::*;
use crate::graph::LinkRules;

/// Writes one batch of named columns and hands its file to `read`.
fn with_table<T>(columns: &[(&str, ArrayRef)], read: impl Fn(&Path) -> Result<T>) -> Result<T> {
    let fields: Vec<Field> = columns
        .iter()
        .map(|(name, array)| Field::new(*name, array.data_type().clone(), true))
        .collect();
    let mut batch = Some(columns.iter().map(|(_, array)| array.clone()).collect());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    write_batches(&path, Arc::new(Schema::new(fields)), || batch.take()).unwrap();
    read(&path)
}

fn links(columns: &[(&str, ArrayRef)]) -> Result<Graph> {
    with_table(columns, |path| {
        let (ids, links) = read_links(path, SelfLinks::Error)?;
        Graph::new(ids, links, LinkRules::default())
    })
}

fn whole(values: &[i64]) -> ArrayRef {
    Arc::new(Int64Array::from(values.to_vec()))
}

fn texts(values: &[Option<&str>]) -> ArrayRef {
    Arc::new(StringArray::from(values.to_vec()))
}

fn doubles(values: &[f64]) -> ArrayRef {
    Arc::new(Float64Array::from(values.to_vec()))
}

#[test]
fn ids_may_be_whole_numbers_and_columns_in_any_order() {
    // Enough ids to use the table of numbers, from the second batch on.
    let n = 100_000;
    let src: Vec<i64> = (0..n).map(|k| k % 9000 - 5).collect();
    let dst: Vec<i64> = (0..n).map(|k| 20_000 + k).collect();
    let weights: Vec<f64> = (0..n).map(|k| 1.0 + k as f64).collect();
    let found = links(&[
        ("note", texts(&vec![Some("?"); n as usize])),
        ("Weight", doubles(&weights)),
        ("target", whole(&dst)),
        ("source", whole(&src)),
    ])
    .unwrap();
    assert_eq!((found.n_nodes(), found.n_links()), (109_000, 100_000));
    let row = |id: i64| found.ids().row(&id.to_string()).unwrap();
    for k in [0, 4, 77_777, n - 1] {
        let weight = found.weight(row(k % 9000 - 5), row(20_000 + k));
        assert_eq!(weight, Some(1.0 + k as f64));
    }
    // Rows follow first appearance, link by link.
    for (id, expected) in [(-5, 0), (20_000, 1), (-4, 2), (20_001, 3)] {
        assert_eq!(row(id), expected);
    }
    let large: ArrayRef = Arc::new(UInt64Array::from(vec![u64::MAX]));
    let found = links(&[("a", large), ("b", texts(&[Some("x")]))]).unwrap();
    assert_eq!(found.ids().name(0), u64::MAX.to_string());
}

#[test]
fn wrong_links_name_column_and_row() {
    let two = || whole(&[1, 2]);
    for (columns, what) in [
        (
            vec![("src", two()), ("dst", texts(&[Some("a"), None]))],
            "a null in column 'dst', row 2",
        ),
        (
            vec![("src", two()), ("dst", texts(&[Some("a"), Some("")]))],
            "an empty node id in column 'dst', row 2",
        ),
        (
            vec![("src", two()), ("dst", whole(&[3, 2]))],
            "from '2' to itself in row 2",
        ),
        (
            vec![
                ("src", two()),
                ("dst", whole(&[3, 4])),
                ("w", doubles(&[1.0, f64::NAN])),
            ],
            "weight NaN in row 2",
        ),
        (
            vec![
                ("src", two()),
                ("dst", whole(&[3, 4])),
                ("w", whole(&[1, -1])),
            ],
            "weight -1 in row 2",
        ),
        (vec![("src", two()), ("other", two())], "columns src, other"),
        (vec![("src", whole(&[])), ("dst", whole(&[]))], "no links"),
    ] {
        let found = links(&columns).unwrap_err();
        assert!(matches!(found, Error::Input { .. }), "{found}");
        assert!(found.to_string().contains(what), "{found}");
    }
}

#[test]
fn data_vectors_have_unique_ids_and_finite_numbers() {
    let found = with_table(
        &[
            ("id", whole(&[7, 3])),
            ("x", doubles(&[1.5, 2.0])),
            ("y", whole(&[1, -2])),
        ],
        read_features,
    )
    .unwrap();
    assert_eq!(found.ids().row("3"), Some(1));
    let expected = Matrix::dense(2, 2, vec![1.5, 1.0, 2.0, -2.0]).unwrap();
    assert_eq!(*found.matrix(), expected);
    let ids = || texts(&[Some("a"), Some("b")]);
    for (columns, what) in [
        (
            vec![("id", whole(&[7, 7])), ("x", doubles(&[1.0, 2.0]))],
            "node '7' again",
        ),
        (
            vec![("id", ids()), ("x", doubles(&[1.0, f64::INFINITY]))],
            "inf in row 1",
        ),
        (vec![("id", ids()), ("x", ids())], "Utf8 in column 'x'"),
        (vec![("id", ids())], "1 column"),
    ] {
        let found = with_table(&columns, read_features).unwrap_err();
        assert!(matches!(found, Error::Input { .. }), "{found}");
        assert!(found.to_string().contains(what), "{found}");
    }
}

/// Every byte of a file in turn, changed in several ways: the reader gives an error
/// that names the file, or reads.
#[test]
fn damage_is_an_error_and_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    let names: Vec<String> = (0..40).map(|k| format!("n{}", k % 7)).collect();
    let numbers: Vec<f64> = (0..40).map(f64::from).collect();
    let schema = Schema::new(vec![
        Field::new("src", DataType::Utf8, false),
        Field::new("dst", DataType::Int64, true),
        Field::new("weight", DataType::Float64, true),
    ]);
    let mut batch = Some(vec![
        Arc::new(StringArray::from_iter_values(&names)) as ArrayRef,
        whole(&(0..40).collect::<Vec<_>>()),
        doubles(&numbers),
    ]);
    write_batches(&path, Arc::new(schema), || batch.take()).unwrap();
    let sound = std::fs::read(&path).unwrap();
    let mut refused = 0;
    let mut look = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        for error in [
            read_links(&path, SelfLinks::Drop).err(),
            read_features(&path).err(),
        ] {
            let Some(error) = error else {
                continue;
            };
            refused += 1;
            let text = error.to_string();
            assert!(matches!(error, Error::Input { .. }), "{text}");
            assert!(text.contains("x.parquet"), "{text}");
        }
    };
    for place in 0..sound.len() {
        for change in [0x80, 0xff] {
            let mut bytes = sound.clone();
            bytes[place] ^= change;
            look(&bytes);
        }
    }
    for length in (0..sound.len()).step_by(5) {
        look(&sound[..length]);
    }
    assert!(refused > sound.len(), "{refused} of {}", sound.len());
}
