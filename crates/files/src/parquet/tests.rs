use std::sync::Arc;

use ::parquet::basic::{LogicalType, Repetition, Type as Physical};
use ::parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use ::parquet::data_type::{FixedLenByteArray, FixedLenByteArrayType};
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::types::Type;

use super::*;
use linkproof_method::data::graph::{Graph, LinkRules};

/// The values of a column, as others write them.
#[derive(Clone)]
enum Values {
    Whole(Vec<i64>),
    Unsigned(Vec<u64>),
    Doubles(Vec<f64>),
    Halves(Vec<f32>),
    Texts(Vec<Option<String>>),
    Truths(Vec<bool>),
}

impl Values {
    fn kind(&self) -> (Physical, Option<LogicalType>, i32) {
        match self {
            Values::Whole(_) => (Physical::INT64, None, -1),
            Values::Unsigned(_) => (Physical::INT64, Some(LogicalType::integer(64, false)), -1),
            Values::Doubles(_) => (Physical::DOUBLE, None, -1),
            Values::Halves(_) => {
                let half = Some(LogicalType::Float16);
                (Physical::FIXED_LEN_BYTE_ARRAY, half, 2)
            }
            Values::Texts(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String), -1),
            Values::Truths(_) => (Physical::BOOLEAN, None, -1),
        }
    }
}

/// Writes named columns, in groups of so many rows.
fn write(path: &Path, columns: &[(&str, Values)], group_rows: usize) {
    let fields = columns.iter().map(|(name, values)| {
        let (physical, logical, length) = values.kind();
        let builder = Type::primitive_type_builder(name, physical)
            .with_logical_type(logical)
            .with_length(length)
            .with_repetition(Repetition::OPTIONAL);
        Arc::new(builder.build().unwrap())
    });
    let schema = Type::group_type_builder("schema").with_fields(fields.collect());
    let schema = Arc::new(schema.build().unwrap());
    let file = std::fs::File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Default::default()).unwrap();
    let n = match &columns[0].1 {
        Values::Whole(values) => values.len(),
        Values::Unsigned(values) => values.len(),
        Values::Doubles(values) => values.len(),
        Values::Halves(values) => values.len(),
        Values::Texts(values) => values.len(),
        Values::Truths(values) => values.len(),
    };
    for start in (0..n).step_by(group_rows) {
        let rows = start..n.min(start + group_rows);
        let mut group = writer.next_row_group().unwrap();
        for (_, values) in columns {
            let mut out = group.next_column().unwrap().unwrap();
            let all = vec![1; rows.len()];
            match values {
                Values::Whole(values) => {
                    let out = out.typed::<Int64Type>();
                    out.write_batch(&values[rows.clone()], Some(&all), None)
                }
                Values::Unsigned(values) => {
                    let values: Vec<i64> = values.iter().map(|&x| x as i64).collect();
                    let out = out.typed::<Int64Type>();
                    out.write_batch(&values[rows.clone()], Some(&all), None)
                }
                Values::Doubles(values) => {
                    let out = out.typed::<DoubleType>();
                    out.write_batch(&values[rows.clone()], Some(&all), None)
                }
                Values::Halves(values) => {
                    let halves: Vec<FixedLenByteArray> = values[rows.clone()]
                        .iter()
                        .map(|&x| half::f16::from_f32(x).to_le_bytes().to_vec().into())
                        .collect();
                    let out = out.typed::<FixedLenByteArrayType>();
                    out.write_batch(&halves, Some(&all), None)
                }
                Values::Texts(values) => {
                    let values = &values[rows.clone()];
                    let levels: Vec<i16> = values.iter().map(|x| x.is_some().into()).collect();
                    let texts = values.iter().flatten();
                    let texts: Vec<ByteArray> = texts.map(|x| x.as_str().into()).collect();
                    let out = out.typed::<ByteArrayType>();
                    out.write_batch(&texts, Some(&levels), None)
                }
                Values::Truths(values) => {
                    let out = out.typed::<BoolType>();
                    out.write_batch(&values[rows.clone()], Some(&all), None)
                }
            }
            .unwrap();
            out.close().unwrap();
        }
        group.close().unwrap();
    }
    writer.close().unwrap();
}

/// Writes a table in two groups of rows, or one where it is short, and hands its
/// file to `read`.
fn with_table<T>(columns: &[(&str, Values)], read: impl Fn(&Path) -> Result<T>) -> Result<T> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    write(&path, columns, 70_000);
    read(&path)
}

fn links(columns: &[(&str, Values)]) -> Result<Graph> {
    with_table(columns, |path| {
        let listed = read_links(Source::open(path)?, SelfLinks::Error, &[])?;
        Graph::new(listed.ids, listed.links, LinkRules::default())
    })
}

fn whole(values: &[i64]) -> Values {
    Values::Whole(values.to_vec())
}

fn texts(values: &[Option<&str>]) -> Values {
    let texts = values.iter().map(|text| text.map(str::to_owned));
    Values::Texts(texts.collect())
}

fn doubles(values: &[f64]) -> Values {
    Values::Doubles(values.to_vec())
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
    let large = Values::Unsigned(vec![u64::MAX]);
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
        |path| crate::read_features(path),
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
        (vec![("id", ids()), ("x", ids())], "text in column 'x'"),
        (
            vec![("id", doubles(&[1.0])), ("x", doubles(&[1.0]))],
            "decimal numbers in column 'id'",
        ),
        (
            vec![("id", ids()), ("x", Values::Truths(vec![true, false]))],
            "values of another kind in column 'x'",
        ),
        (vec![("id", ids())], "1 column"),
    ] {
        let found = with_table(&columns, |path| crate::read_features(path)).unwrap_err();
        assert!(matches!(found, Error::Input { .. }), "{found}");
        assert!(found.to_string().contains(what), "{found}");
    }
}

#[test]
fn halves_are_read_in_single_precision() {
    let columns = [
        ("id", whole(&[1, 2])),
        ("x", Values::Halves(vec![0.5, -2.25])),
    ];
    let found = with_table(&columns, |path| crate::read_features(path)).unwrap();
    let expected = Matrix::dense(2, 1, vec![0.5_f32, -2.25]).unwrap();
    assert_eq!(*found.matrix(), expected);
}

/// Every byte of a file in turn, changed in several ways: the reader gives an error
/// that names the file, or reads.
#[test]
fn damage_is_an_error_and_no_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.parquet");
    let names: Vec<String> = (0..40).map(|k| format!("n{}", k % 7)).collect();
    let numbers: Vec<f64> = (0..40).map(f64::from).collect();
    let columns = [
        ("src", Values::Texts(names.into_iter().map(Some).collect())),
        ("dst", whole(&(0..40).collect::<Vec<_>>())),
        ("weight", doubles(&numbers)),
    ];
    write(&path, &columns, 25);
    let sound = std::fs::read(&path).unwrap();
    let mut refused = 0;
    let mut look = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        for error in [
            read_links(Source::open(&path).unwrap(), SelfLinks::Drop, &[]).err(),
            crate::read_features(&path).err(),
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
