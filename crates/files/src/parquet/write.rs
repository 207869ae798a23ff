//! Tables out of links and embeddings.

use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use ::parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use ::parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, FloatType};
use ::parquet::errors::Result as ParquetResult;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use ::parquet::schema::types::{Type, TypePtr};

use super::super::output::write_file;
use linkproof_method::data::graph::{Graph, Link};
use linkproof_method::data::ids::Ids;
use linkproof_method::error::Result;

/// Rows of a group, and of what is held of it at a time, while writing.
const GROUP: (usize, usize) = (1 << 20, 1 << 16);

/// How text is stored.
const TEXT: Physical = Physical::BYTE_ARRAY;

/// Writes links as columns `src`, `dst` and `weight`.
pub(in super::super) fn write_links(path: &Path, graph: &Graph) -> Result<()> {
    let fields = [("src", TEXT), ("dst", TEXT), ("weight", Physical::DOUBLE)];
    let fields = fields.map(|(name, kind)| (name.to_owned(), kind));
    let ids = graph.ids();
    let links: Vec<Link> = graph.links().collect();
    write_table(path, &fields, links.len(), |column, rows, writer| {
        let links = &links[rows];
        let names = |end: fn(&Link) -> u32| -> Vec<ByteArray> {
            let names = links.iter().map(|link| ids.name(end(link) as usize));
            names.map(|name| ByteArray::from(&*name)).collect()
        };
        match column {
            0 => put::<ByteArrayType>(writer, &names(|link| link.src)),
            1 => put::<ByteArrayType>(writer, &names(|link| link.dst)),
            _ => {
                let weights: Vec<f64> = links.iter().map(|link| link.weight).collect();
                put::<DoubleType>(writer, &weights)
            }
        }
    })
}

/// Writes embeddings as columns `node`, `y0`, `y1`, ...
pub(in super::super) fn write_embeddings(
    path: &Path,
    ids: &Ids,
    k: usize,
    values: &[f32],
) -> Result<()> {
    let mut fields = vec![("node".to_owned(), TEXT)];
    fields.extend((0..k).map(|at| (format!("y{at}"), Physical::FLOAT)));
    write_table(
        path,
        &fields,
        ids.len(),
        |column, rows, writer| match column {
            0 => {
                let names = rows.map(|row| ByteArray::from(&*ids.name(row)));
                put::<ByteArrayType>(writer, &names.collect::<Vec<_>>())
            }
            _ => {
                let numbers: Vec<f32> = rows.map(|row| values[row * k + column - 1]).collect();
                put::<FloatType>(writer, &numbers)
            }
        },
    )
}

/// A column's type. One of bytes is text.
fn column_type((name, kind): &(String, Physical)) -> ParquetResult<TypePtr> {
    let column = Type::primitive_type_builder(name, *kind)
        .with_logical_type((*kind == TEXT).then_some(LogicalType::String))
        .with_repetition(Repetition::REQUIRED)
        .build()?;
    Ok(Arc::new(column))
}

/// Writes more values of a column without nulls.
fn put<T: DataType>(writer: &mut SerializedColumnWriter<'_>, values: &[T::T]) -> ParquetResult<()> {
    let written = writer.typed::<T>().write_batch(values, None, None);
    written.map(|_| ())
}

/// Writes a table, whose values are asked for by column and range of rows.
fn write_table(
    path: &Path,
    fields: &[(String, Physical)],
    n_rows: usize,
    mut write: impl FnMut(usize, Range<usize>, &mut SerializedColumnWriter<'_>) -> ParquetResult<()>,
) -> Result<()> {
    write_file(path, |file| {
        write_groups(file, fields, n_rows, &mut write).map_err(io::Error::other)
    })
}

fn write_groups(
    file: impl io::Write + Send,
    fields: &[(String, Physical)],
    n_rows: usize,
    write: &mut impl FnMut(usize, Range<usize>, &mut SerializedColumnWriter<'_>) -> ParquetResult<()>,
) -> ParquetResult<()> {
    let columns = fields.iter().map(column_type);
    let columns = columns.collect::<ParquetResult<Vec<_>>>()?;
    let schema = Type::group_type_builder("schema").with_fields(columns);
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .build();
    let schema = Arc::new(schema.build()?);
    let mut writer = SerializedFileWriter::new(file, schema, Arc::new(properties))?;
    let (group_rows, piece) = GROUP;
    for first in (0..n_rows).step_by(group_rows) {
        let end = n_rows.min(first + group_rows);
        let mut group = writer.next_row_group()?;
        let mut column = 0;
        while let Some(mut out) = group.next_column()? {
            for start in (first..end).step_by(piece) {
                write(column, start..end.min(start + piece), &mut out)?;
            }
            out.close()?;
            column += 1;
        }
        group.close()?;
    }
    writer.close()?;
    Ok(())
}
