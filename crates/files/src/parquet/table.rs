//! The columns of a table, some rows at a time.

use std::borrow::Cow;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use ::parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use ::parquet::data_type::{ByteArray, DataType};
use ::parquet::errors::{ParquetError, Result as ParquetResult};
use ::parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use ::parquet::schema::types::{Type, TypePtr};

use super::super::source::Source;
use super::super::unpacked;
use super::damaged;
use super::pages::{Room, SoundPages};
use linkproof_method::error::{Error, Result, quote};

/// What a column may hold, as far as it is of use here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Signed,
    Unsigned,
    Half,
    Single,
    Double,
    Text,
}

/// What a field of the table holds; none where it is neither number nor text.
pub(super) fn kind(field: &Type) -> Option<Kind> {
    let info = field.get_basic_info();
    if !field.is_primitive() || info.repetition() == Repetition::REPEATED {
        return None;
    }
    let (logical, converted) = (info.logical_type_ref(), info.converted_type());
    match field.get_physical_type() {
        Physical::FLOAT => Some(Kind::Single),
        Physical::DOUBLE => Some(Kind::Double),
        Physical::INT32 | Physical::INT64 => match (logical, converted) {
            (Some(LogicalType::Integer(integer)), _) => Some(match integer.is_signed {
                true => Kind::Signed,
                false => Kind::Unsigned,
            }),
            (Some(_), _) => None,
            (None, converted) => match converted {
                ConvertedType::NONE
                | ConvertedType::INT_8
                | ConvertedType::INT_16
                | ConvertedType::INT_32
                | ConvertedType::INT_64 => Some(Kind::Signed),
                ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64 => Some(Kind::Unsigned),
                _ => None,
            },
        },
        Physical::BYTE_ARRAY => {
            let named = matches!(
                logical,
                Some(LogicalType::String | LogicalType::Enum | LogicalType::Json)
            );
            let text = matches!(
                converted,
                ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON
            );
            (named || text).then_some(Kind::Text)
        }
        Physical::FIXED_LEN_BYTE_ARRAY => {
            matches!(logical, Some(LogicalType::Float16)).then_some(Kind::Half)
        }
        Physical::BOOLEAN | Physical::INT96 => None,
    }
}

/// A table that has been opened and not read.
pub(super) struct Table {
    pub(super) path: PathBuf,
    /// How many bytes it may become.
    limit: u64,
    file: Arc<File>,
    reader: SerializedFileReader<File>,
    pub(super) fields: Vec<TypePtr>,
}

impl Table {
    pub(super) fn open(source: Source) -> Result<Table> {
        let path = source.path().to_owned();
        let file = source.into_file()?;
        let failed = |source| Error::read(&path, source);
        let limit = unpacked::limit(Some(file.metadata().map_err(failed)?.len()))?;
        let kept = file.try_clone().map_err(failed)?;
        let reader = SerializedFileReader::new(file).map_err(damaged(&path))?;
        let schema = reader.metadata().file_metadata().schema();
        let fields = schema.get_fields().to_vec();
        Ok(Table {
            path,
            limit,
            file: Arc::new(kept),
            reader,
            fields,
        })
    }

    /// Refuses more bytes than are allowed: of all values, or of the ids that are kept.
    pub(super) fn check_texts(&self, bytes: u64) -> Result<()> {
        match bytes > self.limit {
            true => Err(unpacked::too_large(&self.path, self.limit)),
            false => Ok(()),
        }
    }

    pub(super) fn names(&self) -> Vec<String> {
        let names = self.fields.iter().map(|field| field.name().to_owned());
        names.collect()
    }

    /// Reads the wanted columns, so many rows at a time, and hands them over with
    /// the number of rows.
    pub(super) fn read(
        &self,
        wanted: &[usize],
        size: usize,
        mut take: impl FnMut(usize, Columns<'_>) -> Result<()>,
    ) -> Result<()> {
        self.check_size(wanted)?;
        let mut first_row = 0;
        for group in 0..self.reader.num_row_groups() {
            let group = self
                .reader
                .get_row_group(group)
                .map_err(damaged(&self.path))?;
            let n_rows = usize::try_from(group.metadata().num_rows());
            let mut left = n_rows.map_err(damaged(&self.path))?;
            let room = Room::new(self.limit);
            let mut readers = wanted
                .iter()
                .map(|&at| self.column(group.as_ref(), at, &room))
                .collect::<Result<Vec<_>>>()?;
            while left > 0 {
                let n = size.min(left);
                let columns = Columns {
                    table: self,
                    wanted: wanted.iter(),
                    readers: readers.iter_mut(),
                    room: &room,
                    n,
                    first_row,
                };
                take(n, columns)?;
                first_row += n;
                left -= n;
            }
        }
        Ok(())
    }

    /// Refuses a table that would unpack to more than is allowed: by runs of equal
    /// values a few bytes can stand for any number of rows.
    fn check_size(&self, wanted: &[usize]) -> Result<()> {
        let metadata = self.reader.metadata();
        let rows: u128 = metadata
            .row_groups()
            .iter()
            .map(|group| group.num_rows().max(0) as u128)
            .sum();
        // A number takes 8 bytes, and so does the place of a text.
        let bytes = rows * wanted.len() as u128 * 8;
        self.check_texts(u64::try_from(bytes).unwrap_or(u64::MAX))
    }

    /// The reader of a field in a group of rows; none where the field is neither
    /// number nor text.
    fn column(
        &self,
        group: &dyn RowGroupReader,
        at: usize,
        room: &Arc<Room>,
    ) -> Result<Option<ColumnReader>> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        let leaf = (0..schema.num_columns()).find(|&leaf| schema.get_column_root_idx(leaf) == at);
        match (kind(&self.fields[at]), leaf) {
            (Some(_), Some(leaf)) => {
                let (start, length) = group.metadata().column(leaf).byte_range();
                let pages = group.get_column_page_reader(leaf);
                let pages = pages.map_err(damaged(&self.path))?;
                let place = start..start.saturating_add(length);
                let pages = SoundPages::new(pages, &self.file, place, room);
                let pages = pages.map_err(|source| Error::read(&self.path, source))?;
                Ok(Some(get_column_reader(
                    schema.column(leaf),
                    Box::new(pages),
                )))
            }
            _ => Ok(None),
        }
    }
}

/// The same rows of the wanted columns, each read when it is asked for.
pub(super) struct Columns<'t> {
    table: &'t Table,
    wanted: std::slice::Iter<'t, usize>,
    readers: std::slice::IterMut<'t, Option<ColumnReader>>,
    room: &'t Room,
    n: usize,
    first_row: usize,
}

impl Columns<'_> {
    /// The next column, as node ids.
    pub(super) fn next_ids(&mut self) -> Result<ColumnIds> {
        let expected = "node ids as text or whole numbers";
        let (field, values) = self.next_column(expected)?;
        match values {
            ColumnValues::Whole(numbers) => Ok(ColumnIds::Numbers(numbers)),
            ColumnValues::Reals(_) => Err(self.wrong_type(&field, expected)),
            ColumnValues::Texts(texts) => {
                let mut all = texts.iter();
                all.try_for_each(|text| text.as_utf8().map(drop))
                    .map_err(damaged(&self.table.path))?;
                match texts.iter().position(ByteArray::is_empty) {
                    Some(row) => Err(self.wrong(&field, "an empty node id", row, "an id")),
                    None => Ok(ColumnIds::Texts(texts)),
                }
            }
        }
    }

    /// The next column, as numbers.
    pub(super) fn next_numbers(&mut self) -> Result<Vec<f64>> {
        let (field, values) = self.next_column("numbers")?;
        match values {
            ColumnValues::Reals(numbers) => Ok(numbers),
            ColumnValues::Whole(numbers) => Ok(numbers.iter().map(|&x| x as f64).collect()),
            ColumnValues::Texts(_) => Err(self.wrong_type(&field, "numbers")),
        }
    }

    /// The next column, as numbers, of which some may be missing.
    pub(super) fn next_numbers_or_nan(&mut self) -> Result<Vec<f64>> {
        let (field, values, levels) = self.next_values("numbers")?;
        let mut numbers = match values {
            ColumnValues::Reals(numbers) => numbers,
            ColumnValues::Whole(numbers) => numbers.iter().map(|&x| x as f64).collect(),
            ColumnValues::Texts(_) => return Err(self.wrong_type(&field, "numbers")),
        };
        if numbers.len() < self.n {
            let mut there = numbers.into_iter();
            let number = |level: &i16| match level {
                0 => f64::NAN,
                _ => there.next().unwrap_or(f64::NAN),
            };
            numbers = levels.iter().map(number).collect();
            numbers.resize(self.n, f64::NAN);
        }
        match numbers.iter().position(|x| x.is_infinite()) {
            Some(row) => Err(self.wrong(&field, "an infinite number", row, "a finite number")),
            None => Ok(numbers),
        }
    }

    /// The next column, without nulls.
    fn next_column(&mut self, expected: &str) -> Result<(TypePtr, ColumnValues)> {
        let (field, values, levels) = self.next_values(expected)?;
        if values.len() == self.n {
            return Ok((field, values));
        }
        let null = levels.iter().position(|&level| level == 0);
        Err(self.wrong(&field, "a null", null.unwrap_or(0), "a value"))
    }

    /// The values of the next column, and of each row whether it has one.
    fn next_values(&mut self, expected: &str) -> Result<(TypePtr, ColumnValues, Vec<i16>)> {
        let (Some(&at), Some(reader)) = (self.wanted.next(), self.readers.next()) else {
            let message = "fewer columns than were named";
            return Err(damaged(&self.table.path)(message));
        };
        let field = self.table.fields[at].clone();
        let (Some(kind), Some(reader)) = (kind(&field), reader) else {
            return Err(self.wrong_type(&field, expected));
        };
        let path = &self.table.path;
        let read = column_values(kind, reader, self.n);
        let (values, levels) = read.map_err(|error| match self.room.is_over() {
            true => unpacked::too_large(path, self.table.limit),
            false => damaged(path)(error),
        })?;
        Ok((field, values, levels))
    }

    fn wrong(&self, field: &Type, found: &str, row: usize, expected: &str) -> Error {
        let row = self.first_row + row + 1;
        let found = format!("{found} in column {}, row {row}", quote(field.name()));
        Error::input(&self.table.path, None, found, expected)
    }

    fn wrong_type(&self, field: &Type, expected: &str) -> Error {
        let holds = match kind(field) {
            Some(Kind::Text) => "text",
            Some(Kind::Signed | Kind::Unsigned) => "whole numbers",
            Some(_) => "decimal numbers",
            None => "values of another kind",
        };
        let found = format!("{holds} in column {}", quote(field.name()));
        Error::input(&self.table.path, None, found, expected)
    }
}

/// Values of a column, without nulls.
enum ColumnValues {
    Whole(Vec<i128>),
    Reals(Vec<f64>),
    Texts(Vec<ByteArray>),
}

impl ColumnValues {
    fn len(&self) -> usize {
        match self {
            ColumnValues::Whole(values) => values.len(),
            ColumnValues::Reals(values) => values.len(),
            ColumnValues::Texts(values) => values.len(),
        }
    }
}

/// The values of so many rows, and of each row whether it has one.
fn column_values(
    kind: Kind,
    reader: &mut ColumnReader,
    n: usize,
) -> ParquetResult<(ColumnValues, Vec<i16>)> {
    let unsigned = kind == Kind::Unsigned;
    Ok(match reader {
        ColumnReader::Int32ColumnReader(reader) => {
            let (values, levels) = take(reader, n)?;
            let whole = values.into_iter().map(|x| match unsigned {
                true => i128::from(x as u32),
                false => i128::from(x),
            });
            (ColumnValues::Whole(whole.collect()), levels)
        }
        ColumnReader::Int64ColumnReader(reader) => {
            let (values, levels) = take(reader, n)?;
            let whole = values.into_iter().map(|x| match unsigned {
                true => i128::from(x as u64),
                false => i128::from(x),
            });
            (ColumnValues::Whole(whole.collect()), levels)
        }
        ColumnReader::FloatColumnReader(reader) => {
            let (values, levels) = take(reader, n)?;
            let reals = values.into_iter().map(f64::from);
            (ColumnValues::Reals(reals.collect()), levels)
        }
        ColumnReader::DoubleColumnReader(reader) => {
            let (values, levels) = take(reader, n)?;
            (ColumnValues::Reals(values), levels)
        }
        ColumnReader::ByteArrayColumnReader(reader) => {
            let (values, levels) = take(reader, n)?;
            (ColumnValues::Texts(values), levels)
        }
        ColumnReader::FixedLenByteArrayColumnReader(reader) => {
            let (values, levels) = take(reader, n)?;
            let reals = values.iter().map(|half| match half.data() {
                &[low, high] => Ok(half::f16::from_le_bytes([low, high]).to_f64()),
                _ => Err(ParquetError::General(
                    "a half of other than two bytes".into(),
                )),
            });
            (
                ColumnValues::Reals(reals.collect::<ParquetResult<_>>()?),
                levels,
            )
        }
        ColumnReader::BoolColumnReader(_) | ColumnReader::Int96ColumnReader(_) => {
            return Err(ParquetError::General("a column of another type".into()));
        }
    })
}

fn take<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    n: usize,
) -> ParquetResult<(Vec<T::T>, Vec<i16>)> {
    let mut values = Vec::with_capacity(n);
    let mut levels = Vec::new();
    let mut rows = 0;
    while rows < n {
        let (more, ..) = reader.read_records(n - rows, Some(&mut levels), None, &mut values)?;
        if more == 0 {
            return Err(ParquetError::General("a column ends early".into()));
        }
        rows += more;
    }
    Ok((values, levels))
}

/// Node ids in a column. Texts share the memory of their page.
pub(super) enum ColumnIds {
    Numbers(Vec<i128>),
    Texts(Vec<ByteArray>),
}

impl ColumnIds {
    /// The id at a place.
    pub(super) fn name(&self, at: usize) -> Cow<'_, str> {
        match self {
            ColumnIds::Numbers(numbers) => numbers[at].to_string().into(),
            ColumnIds::Texts(texts) => String::from_utf8_lossy(texts[at].data()),
        }
    }
}
