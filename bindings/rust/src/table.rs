// SPDX-License-Identifier: MIT
use crate::error::{call, Error, Result};
use crate::reader::Loan;
use crate::{sized, sys, text, Reader};
use std::ffi::CString;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr::{null_mut, NonNull};

/// A view as typed columns, in batches of rows.
pub struct Table<'reader> {
    pointer: NonNull<sys::perfile_table>,
    columns: Vec<Column>,
    _loan: Loan,
    reader: PhantomData<&'reader mut ()>,
}

/// A column that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    /// "ns", "bytes" ...; "": none
    pub unit: String,
    /// the type as the Arrow C data interface writes it
    pub format: String,
}

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Signed(i64),
    Unsigned(u64),
    Double(f64),
    Text(String),
    List(Vec<Value>),
}

impl std::fmt::Display for Value {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Null => Ok(()),
            Value::Bool(value) => write!(to, "{value}"),
            Value::Signed(value) => write!(to, "{value}"),
            Value::Unsigned(value) => write!(to, "{value}"),
            Value::Double(value) => write!(to, "{value}"),
            Value::Text(value) => to.write_str(value),
            Value::List(values) => {
                for (number, value) in values.iter().enumerate() {
                    write!(to, "{}{value}", if number > 0 { ";" } else { "" })?;
                }
                Ok(())
            }
        }
    }
}

impl<'reader> Table<'reader> {
    pub(crate) fn open(reader: &'reader mut Reader<'_>, view: &str, columns: &str) -> Result<Table<'reader>> {
        let argument = |_| Error::argument("a name has a NUL");
        let (view, columns) = (CString::new(view).map_err(argument)?, CString::new(columns).map_err(argument)?);
        let mut options: sys::perfile_table_options = unsafe { sized() };
        if !columns.as_bytes().is_empty() {
            options.columns = columns.as_ptr();
        }
        let loan = reader.lend()?;
        let mut pointer = null_mut();
        call(|error| unsafe { sys::perfile_table_open(loan.0.pointer, view.as_ptr(), &options, &mut pointer, error) })?;
        let pointer = NonNull::new(pointer).ok_or_else(|| Error::argument("no table was opened"))?;
        let mut table = Table { pointer, columns: Vec::new(), _loan: loan, reader: PhantomData };
        table.columns = table.find_columns()?;
        Ok(table)
    }

    fn find_columns(&self) -> Result<Vec<Column>> {
        let mut schema = MaybeUninit::<sys::ArrowSchema>::zeroed();
        call(|error| unsafe { sys::perfile_table_schema(self.pointer.as_ptr(), schema.as_mut_ptr(), error) })?;
        let mut schema = unsafe { schema.assume_init() };
        let mut columns = Vec::new();
        for index in 0..schema.n_children as usize {
            let mut of: sys::perfile_column = unsafe { sized() };
            let result = unsafe { sys::perfile_table_column(self.pointer.as_ptr(), index as _, &mut of) };
            let child = unsafe { &**schema.children.add(index) };
            let kind = unsafe { child.dictionary.as_ref() }.unwrap_or(child);
            columns.push(Column {
                name: unsafe { text(child.name) }.unwrap_or_default(),
                unit: if result == 0 { unsafe { text(of.unit) }.unwrap_or_default() } else { String::new() },
                format: unsafe { text(kind.format) }.unwrap_or_default() + &unsafe { item_format(child) },
            });
        }
        if let Some(release) = schema.release {
            unsafe { release(&mut schema) };
        }
        Ok(columns)
    }

    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The next rows, or `None` at the end. They stay valid.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<Batch>> {
        let mut array = MaybeUninit::<sys::ArrowArray>::zeroed();
        let found = call(|error| unsafe { sys::perfile_table_next(self.pointer.as_ptr(), array.as_mut_ptr(), error) })?;
        if found == 0 {
            return Ok(None);
        }
        let formats = self.columns.iter().map(|column| column.format.clone()).collect();
        Ok(Some(Batch { array: unsafe { array.assume_init() }, formats }))
    }
}

impl Drop for Table<'_> {
    fn drop(&mut self) {
        unsafe { sys::perfile_table_close(self.pointer.as_ptr()) }
    }
}

/// Of a list "u" or "L" after its "+l".
unsafe fn item_format(schema: &sys::ArrowSchema) -> String {
    if schema.n_children == 0 {
        return String::new();
    }
    let item = unsafe { &**schema.children };
    let kind = unsafe { item.dictionary.as_ref() }.unwrap_or(item);
    unsafe { text(kind.format) }.unwrap_or_default()
}

/// Rows of a table.
pub struct Batch {
    array: sys::ArrowArray,
    formats: Vec<String>,
}

// The arrays of a batch are its own, and may be released in any thread.
unsafe impl Send for Batch {}

impl Batch {
    pub fn row_count(&self) -> usize {
        self.array.length as usize
    }

    pub fn column_count(&self) -> usize {
        self.formats.len()
    }

    /// The value of a column in a row. Panics if there is no such row or column.
    pub fn value(&self, row: usize, column: usize) -> Value {
        assert!(row < self.row_count() && column < self.column_count());
        unsafe { value_at(&**self.array.children.add(column), &self.formats[column], row) }
    }

    pub fn row(&self, row: usize) -> Vec<Value> {
        (0..self.column_count()).map(|column| self.value(row, column)).collect()
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        if let Some(release) = self.array.release {
            unsafe { release(&mut self.array) };
        }
    }
}

unsafe fn number_at<T: Copy>(array: &sys::ArrowArray, row: usize) -> T {
    unsafe { *(*array.buffers.add(1)).cast::<T>().add(row) }
}

unsafe fn bit_at(array: &sys::ArrowArray, buffer: usize, row: usize) -> bool {
    unsafe { *(*array.buffers.add(buffer)).cast::<u8>().add(row / 8) >> (row % 8) & 1 != 0 }
}

unsafe fn text_at(array: &sys::ArrowArray, row: usize) -> Value {
    unsafe {
        let offsets = (*array.buffers.add(1)).cast::<i32>();
        let (from, to) = (*offsets.add(row) as usize, *offsets.add(row + 1) as usize);
        let data = (*array.buffers.add(2)).cast::<u8>();
        let bytes = if to > from { std::slice::from_raw_parts(data.add(from), to - from) } else { &[] };
        Value::Text(String::from_utf8_lossy(bytes).into_owned())
    }
}

unsafe fn list_at(array: &sys::ArrowArray, format: &str, row: usize) -> Value {
    unsafe {
        let (from, to): (i32, i32) = (number_at(array, row), number_at(array, row + 1));
        let items = &**array.children;
        Value::List((from..to).map(|item| value_at(items, format, item as usize)).collect())
    }
}

/// `format` is that of the values, of dictionaries that of their texts.
unsafe fn value_at(array: &sys::ArrowArray, format: &str, row: usize) -> Value {
    unsafe {
        if !(*array.buffers).is_null() && !bit_at(array, 0, row) {
            return Value::Null;
        }
        if let Some(dictionary) = array.dictionary.as_ref() {
            return text_at(dictionary, number_at::<i32>(array, row) as usize);
        }
        match format.as_bytes() {
            [b'+', b'l', ..] => list_at(array, &format[2..], row),
            b"u" => text_at(array, row),
            b"b" => Value::Bool(bit_at(array, 1, row)),
            b"g" => Value::Double(number_at(array, row)),
            b"i" => Value::Signed(number_at::<i32>(array, row).into()),
            b"I" => Value::Unsigned(number_at::<u32>(array, row).into()),
            b"L" => Value::Unsigned(number_at(array, row)),
            _ => Value::Signed(number_at(array, row)), /* "l", and times of 64 bits */
        }
    }
}
