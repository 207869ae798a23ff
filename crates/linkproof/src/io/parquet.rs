//! Links, data vectors and embeddings as Parquet.

use std::borrow::Cow;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use ::parquet::arrow::ArrowWriter;
use ::parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use ::parquet::basic::{Compression, ZstdLevel};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, Float32Array, Float64Array, RecordBatch, StringArray};
use arrow_schema::{ArrowError, DataType, Field, Schema};

use super::caught::caught;
use super::features::repeated_id;
use super::intern::Interner;
use super::link_text::{Layout, Role, no_links, role};
use super::output::write_file;
use super::source::{Source, extensions, open_file};
use crate::error::{Error, Remedy, Result, quote};
use crate::features::{Features, Matrix};
use crate::graph::{Graph, Link, SelfLinks};
use crate::ids::{Ids, Names};

type Builder = ParquetRecordBatchReaderBuilder<File>;

/// Numbers held at a time while reading and writing.
const PIECE: usize = 1 << 22;

/// Links from columns that are named so, or else from the first two or three.
pub(super) fn read_links(path: &Path, self_links: SelfLinks) -> Result<(Ids, Vec<Link>)> {
    whole(path, || links(path, self_links))
}

/// Data vectors: ids in the first column, numbers in the others.
pub(super) fn read_features(path: &Path) -> Result<Features> {
    whole(path, || features(path))
}

/// Reads a file. The reader of Parquet panics on some that are damaged.
fn whole<T>(path: &Path, read: impl FnOnce() -> Result<T>) -> Result<T> {
    caught(read).unwrap_or_else(|said| Err(damaged(path)(said)))
}

fn links(path: &Path, self_links: SelfLinks) -> Result<(Ids, Vec<Link>)> {
    let builder = open(path)?;
    let names: Vec<String> = column_names(&builder);
    let layout = layout(path, &names)?;
    let mut ids = Interner::default();
    let mut links = Vec::new();
    let mut text = String::new();
    for batch in builder
        .with_batch_size(1 << 16)
        .build()
        .map_err(damaged(path))?
    {
        let batch = batch.map_err(damaged(path))?;
        let column = |at: usize| Column {
            path,
            name: &names[at],
            array: batch.column(at),
            first_row: links.len(),
        };
        let (src_column, dst_column) = (column(layout.src), column(layout.dst));
        let (src_ids, dst_ids) = (src_column.ids()?, dst_column.ids()?);
        let weights = match layout.weight {
            None => vec![1.0; batch.num_rows()],
            Some(at) => column(at).numbers()?,
        };
        for (at, &weight) in weights.iter().enumerate() {
            let src = src_ids.insert(at, &mut ids, &mut text)?;
            let dst = dst_ids.insert(at, &mut ids, &mut text)?;
            let row = links.len() + 1;
            if !(weight >= 0.0 && weight.is_finite()) {
                let found = format!("weight {weight} in row {row}");
                let expected = "a finite number of zero or more";
                return Err(Error::input(path, None, found, expected));
            }
            if src == dst && self_links == SelfLinks::Error {
                let found = format!(
                    "a link from {} to itself in row {row}",
                    quote(ids.name(src))
                );
                let error = Error::input(path, None, found, "two different nodes");
                return Err(error.or(Remedy::DropSelfLinks));
            }
            links.push(Link { src, dst, weight });
        }
        ids.make_room()?;
    }
    if links.is_empty() {
        return Err(no_links(path, "a table with no rows: no links"));
    }
    Ok((ids.into_ids(), links))
}

fn layout(path: &Path, names: &[String]) -> Result<Layout> {
    let place = |wanted| names.iter().position(|name| role(name) == Some(wanted));
    match (place(Role::Src), place(Role::Dst), names.len()) {
        (Some(src), Some(dst), _) => Ok(Layout {
            src,
            dst,
            weight: place(Role::Weight),
        }),
        (None, None, n @ (2 | 3)) => Ok(Layout::in_order(n)),
        _ => Err(Error::input(
            path,
            None,
            format!("columns {}", names.join(", ")),
            "columns src, dst and perhaps weight",
        )),
    }
}

fn features(path: &Path) -> Result<Features> {
    let builder = open(path)?;
    let names = column_names(&builder);
    let k = names.len().saturating_sub(1);
    if k == 0 {
        let found = super::columns(names.len());
        return Err(Error::input(
            path,
            None,
            found,
            "an id and at least one number",
        ));
    }
    let single = builder.schema().fields()[1..]
        .iter()
        .all(|field| matches!(field.data_type(), DataType::Float32 | DataType::Float16));
    let mut ids = Names::default();
    let mut values = Vec::new();
    let mut narrow: Vec<f32> = Vec::new();
    let size = (PIECE / k).clamp(64, 1 << 16);
    for batch in builder
        .with_batch_size(size)
        .build()
        .map_err(damaged(path))?
    {
        let batch = batch.map_err(damaged(path))?;
        let column = |at: usize| Column {
            path,
            name: &names[at],
            array: batch.column(at),
            first_row: ids.len(),
        };
        let numbers = (1..=k)
            .map(|at| column(at).numbers())
            .collect::<Result<Vec<_>>>()?;
        let id_column = column(0);
        let new = id_column.ids()?;
        for row in 0..batch.num_rows() {
            match single {
                true => narrow.extend(numbers.iter().map(|column| column[row] as f32)),
                false => values.extend(numbers.iter().map(|column| column[row])),
            }
        }
        for at in 0..batch.num_rows() {
            let id = new.name(at);
            let n_before = ids.len();
            ids.insert(&id);
            if ids.len() == n_before {
                return Err(repeated_id(path, None, &id));
            }
        }
    }
    let matrix = match single {
        true => Matrix::dense(ids.len(), k, narrow),
        false => Matrix::dense(ids.len(), k, values),
    };
    Features::with_ids(
        Ids::Names(ids),
        matrix.map_err(|error| error.in_file(path, None))?,
    )
}

fn open(path: &Path) -> Result<Builder> {
    let file = match extensions(path).0 {
        None => open_file(path)?.0,
        // Parquet is read from its end, which a packed stream does not allow.
        Some(_) => {
            let mut file = tempfile::tempfile().map_err(|source| Error::read(path, source))?;
            Source::open(path)?.copy_to(&mut file)?;
            file
        }
    };
    // Without the writer's own schema, text is text whatever it was in memory.
    let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
    Builder::try_new_with_options(file, options).map_err(damaged(path))
}

fn column_names(builder: &Builder) -> Vec<String> {
    let fields = builder.schema().fields().iter();
    fields.map(|field| field.name().clone()).collect()
}

fn damaged<E: std::fmt::Display>(path: &Path) -> impl Fn(E) -> Error + '_ {
    move |error| {
        Error::input(
            path,
            None,
            format!("a Parquet file that is damaged or cut short ({error})"),
            "a whole Parquet file",
        )
    }
}

/// A column of a batch, with what messages need.
struct Column<'b> {
    path: &'b Path,
    name: &'b str,
    array: &'b ArrayRef,
    first_row: usize,
}

impl Column<'_> {
    fn check_no_nulls(&self) -> Result<()> {
        match (0..self.array.len()).find(|&row| self.array.is_null(row)) {
            Some(row) if self.array.null_count() > 0 => Err(self.wrong("a null", row, "a value")),
            _ => Ok(()),
        }
    }

    fn wrong(&self, found: &str, row: usize, expected: &str) -> Error {
        let row = self.first_row + row + 1;
        let found = format!("{found} in column {}, row {row}", quote(self.name));
        Error::input(self.path, None, found, expected)
    }

    fn wrong_type(&self, expected: &str) -> Error {
        let found = format!("{} in column {}", self.array.data_type(), quote(self.name));
        Error::input(self.path, None, found, expected)
    }

    fn whole_numbers(&self) -> Option<Vec<i128>> {
        macro_rules! take {
            ($($name:ident => $kind:ty),*) => {
                match self.array.data_type() {
                    $(DataType::$name => {
                        let values = self.array.as_primitive_opt::<$kind>()?.values();
                        Some(values.iter().map(|&x| i128::from(x)).collect())
                    })*
                    _ => None,
                }
            };
        }
        take!(Int8 => Int8Type, Int16 => Int16Type, Int32 => Int32Type, Int64 => Int64Type,
              UInt8 => UInt8Type, UInt16 => UInt16Type, UInt32 => UInt32Type, UInt64 => UInt64Type)
    }

    fn ids(&self) -> Result<ColumnIds<'_>> {
        self.check_no_nulls()?;
        match self.whole_numbers() {
            Some(numbers) => Ok(ColumnIds::Numbers(numbers)),
            None => self.text_array().map(ColumnIds::Texts),
        }
    }

    fn text_array(&self) -> Result<&StringArray> {
        let texts = self
            .array
            .as_string_opt::<i32>()
            .ok_or_else(|| self.wrong_type("node ids as text or whole numbers"))?;
        match texts.iter().position(|id| id == Some("")) {
            Some(row) => Err(self.wrong("an empty node id", row, "an id")),
            None => Ok(texts),
        }
    }

    fn numbers(&self) -> Result<Vec<f64>> {
        self.check_no_nulls()?;
        let found: Option<Vec<f64>> = match self.array.data_type() {
            DataType::Float16 => {
                let array = self.array.as_primitive_opt::<Float16Type>();
                array.map(|array| array.values().iter().map(|x| x.to_f64()).collect())
            }
            DataType::Float32 => {
                let array = self.array.as_primitive_opt::<Float32Type>();
                array.map(|array| array.values().iter().map(|&x| f64::from(x)).collect())
            }
            DataType::Float64 => {
                let array = self.array.as_primitive_opt::<Float64Type>();
                array.map(|array| array.values().to_vec())
            }
            _ => self
                .whole_numbers()
                .map(|numbers| numbers.iter().map(|&x| x as f64).collect()),
        };
        found.ok_or_else(|| self.wrong_type("numbers"))
    }
}

/// Node ids in a column.
enum ColumnIds<'b> {
    Numbers(Vec<i128>),
    Texts(&'b StringArray),
}

impl ColumnIds<'_> {
    /// The row of the id that stands at a place, added when it is new.
    fn insert(&self, at: usize, ids: &mut Interner, text: &mut String) -> Result<u32> {
        match self {
            ColumnIds::Numbers(numbers) => ids.insert_number(numbers[at], text),
            ColumnIds::Texts(texts) => ids.insert(texts.value(at)),
        }
    }

    fn name(&self, at: usize) -> Cow<'_, str> {
        match self {
            ColumnIds::Numbers(numbers) => numbers[at].to_string().into(),
            ColumnIds::Texts(texts) => texts.value(at).into(),
        }
    }
}

/// Writes links as columns `src`, `dst` and `weight`.
pub(super) fn write_links(path: &Path, graph: &Graph) -> Result<()> {
    let schema = Arc::new(Schema::new(vec![
        Field::new("src", DataType::Utf8, false),
        Field::new("dst", DataType::Utf8, false),
        Field::new("weight", DataType::Float64, false),
    ]));
    let ids = graph.ids();
    let mut links = graph.links();
    write_batches(path, schema, || {
        let piece: Vec<Link> = links.by_ref().take(1 << 16).collect();
        let texts = |end: fn(&Link) -> u32| -> ArrayRef {
            let texts = piece.iter().map(|link| ids.name(end(link) as usize));
            Arc::new(StringArray::from_iter_values(texts))
        };
        let weights = Float64Array::from_iter_values(piece.iter().map(|link| link.weight));
        (!piece.is_empty()).then(|| {
            vec![
                texts(|link| link.src),
                texts(|link| link.dst),
                Arc::new(weights),
            ]
        })
    })
}

/// Writes embeddings as columns `node`, `y0`, `y1`, ...
pub(super) fn write_embeddings(path: &Path, ids: &Ids, k: usize, values: &[f32]) -> Result<()> {
    let mut fields = vec![Field::new("node", DataType::Utf8, false)];
    fields.extend((0..k).map(|at| Field::new(format!("y{at}"), DataType::Float32, false)));
    let n_rows = (PIECE / k).clamp(64, 1 << 16);
    let mut pieces = values.chunks(n_rows * k).enumerate();
    write_batches(path, Arc::new(Schema::new(fields)), || {
        let (at, piece) = pieces.next()?;
        let rows = at * n_rows..at * n_rows + piece.len() / k;
        let names = StringArray::from_iter_values(rows.map(|row| ids.name(row)));
        let mut columns: Vec<ArrayRef> = vec![Arc::new(names)];
        for column in 0..k {
            let numbers = piece.iter().skip(column).step_by(k).copied();
            columns.push(Arc::new(Float32Array::from_iter_values(numbers)));
        }
        Some(columns)
    })
}

fn write_batches(
    path: &Path,
    schema: Arc<Schema>,
    mut next: impl FnMut() -> Option<Vec<ArrayRef>>,
) -> Result<()> {
    let parquet = |error: ParquetError| io::Error::other(error);
    let arrow = |error: ArrowError| io::Error::other(error);
    write_file(path, |file| {
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .build();
        let mut writer =
            ArrowWriter::try_new(file, schema.clone(), Some(properties)).map_err(parquet)?;
        while let Some(columns) = next() {
            let batch = RecordBatch::try_new(schema.clone(), columns).map_err(arrow)?;
            writer.write(&batch).map_err(parquet)?;
        }
        writer.close().map_err(parquet)?;
        Ok(())
    })
}

#[cfg(test)]
#[path = "parquet_tests.rs"]
mod tests;
