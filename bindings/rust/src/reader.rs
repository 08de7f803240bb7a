// SPDX-License-Identifier: MIT
use crate::error::{call, Error, Result};
use crate::{sys, text, Profile, Stream, Table};
use std::ffi::CString;
use std::marker::PhantomData;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

/// The reader of the C interface, which streams and tables keep open: one that was leaked does not outlive it.
pub(crate) struct Shared {
    pub(crate) pointer: *mut sys::perfile_reader,
    is_lent: AtomicBool,
}

// One thread at a time uses it: through `&mut Reader`, or through what it was lent to.
unsafe impl Send for Shared {}
unsafe impl Sync for Shared {}

impl Drop for Shared {
    fn drop(&mut self) {
        unsafe { sys::perfile_close(self.pointer) }
    }
}

/// Ends a loan when it is dropped.
pub(crate) struct Loan(pub(crate) Arc<Shared>);

impl Drop for Loan {
    fn drop(&mut self) {
        self.0.is_lent.store(false, Ordering::Release);
    }
}

/// A recording that is open for reading.
pub struct Reader<'data> {
    shared: Arc<Shared>,
    data: PhantomData<&'data [u8]>,
}

impl Reader<'static> {
    /// A file, pipe or directory; "-" is standard input.
    pub fn open(path: impl AsRef<Path>) -> Result<Reader<'static>> {
        let path = CString::new(path.as_ref().as_os_str().as_bytes()).map_err(|_| Error::argument("the path has a NUL"))?;
        let mut pointer = null_mut();
        call(|error| unsafe { sys::perfile_open_path(path.as_ptr(), null(), &mut pointer, error) })?;
        Ok(Reader::of(pointer))
    }
}

impl<'data> Reader<'data> {
    /// A recording in memory.
    pub fn from_bytes(data: &'data [u8]) -> Result<Reader<'data>> {
        let mut pointer = null_mut();
        call(|error| unsafe { sys::perfile_open_memory(data.as_ptr().cast(), data.len() as _, null(), &mut pointer, error) })?;
        Ok(Reader::of(pointer))
    }

    fn of(pointer: *mut sys::perfile_reader) -> Reader<'data> {
        Reader { shared: Arc::new(Shared { pointer, is_lent: AtomicBool::new(false) }), data: PhantomData }
    }

    /// Fails while a stream or a table that was leaked still has the reader.
    fn pointer(&self) -> Result<*mut sys::perfile_reader> {
        if self.shared.is_lent.load(Ordering::Acquire) {
            return Err(Error::argument("a stream or a table that was not dropped still reads the recording"));
        }
        Ok(self.shared.pointer)
    }

    pub(crate) fn lend(&mut self) -> Result<Loan> {
        self.pointer()?;
        self.shared.is_lent.store(true, Ordering::Release);
        Ok(Loan(self.shared.clone()))
    }

    /// The next record of the file, or `None` at its end. Damage is skipped and counted.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<Record<'_>>> {
        let (pointer, mut record) = (self.pointer()?, null());
        let found = call(|error| unsafe { sys::perfile_reader_next(pointer, &mut record, error) })?;
        Ok(if found == 1 { Some(Record { raw: unsafe { &*record } }) } else { None })
    }

    /// Back to the start, for another pass.
    pub fn rewind(&mut self) -> Result<()> {
        let pointer = self.pointer()?;
        call(|error| unsafe { sys::perfile_reader_rewind(pointer, error) }).map(drop)
    }

    /// What was counted.
    pub fn events(&self) -> Result<Vec<Event>> {
        let pointer = self.pointer()?;
        let count = unsafe { sys::perfile_event_count(pointer) };
        Ok((0..count).map(|index| unsafe { Event::of(sys::perfile_event_get(pointer, index)) }).collect())
    }

    /// Samples with complete, resolved stacks. The reader must be at its start.
    pub fn stream(&mut self) -> Result<Stream<'_>> {
        Stream::open(self)
    }

    /// All samples, aggregated: by event and stack, and by `keys` such as "comm,cpu". Reads to the end.
    pub fn profile(&mut self, keys: &str) -> Result<Profile> {
        Profile::open(self.pointer()?, keys)
    }

    /// A view such as "samples" or "functions" as typed columns; `columns` "" are those that are shown by default.
    pub fn table(&mut self, view: &str, columns: &str) -> Result<Table<'_>> {
        Table::open(self, view, columns)
    }
}

/// A record; it is valid until the next one is read.
pub struct Record<'reader> {
    raw: &'reader sys::perfile_record,
}

impl Record<'_> {
    /// `sys::PERFILE_RECORD_SAMPLE` and so on
    pub fn kind(&self) -> u32 {
        self.raw.type_
    }

    pub fn offset(&self) -> u64 {
        self.raw.offset
    }

    /// The bytes as they are in the recording, header included.
    pub fn bytes(&self) -> &[u8] {
        unsafe { std::slice::from_raw_parts(self.raw.data, self.raw.bytes as usize) }
    }
}

/// What was counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub index: u32,
    pub name: String,
}

impl Event {
    pub(crate) unsafe fn of(event: *const sys::perfile_event) -> Event {
        let event = unsafe { &*event };
        Event { index: event.index, name: unsafe { text(event.name) }.unwrap_or_default() }
    }
}
