// SPDX-License-Identifier: MIT
use crate::error::{call, Error, Result};
use crate::reader::Loan;
use crate::{sized, sys, text, Reader};
use std::ffi::CStr;
use std::marker::PhantomData;
use std::ptr::{null, null_mut, NonNull};

/// Samples with complete stacks: callchains of all kinds, unwound stacks and inlined functions, as ids of frames.
pub struct Stream<'reader> {
    pointer: NonNull<sys::perfile_stream>,
    _loan: Loan,
    reader: PhantomData<&'reader mut ()>,
}

impl<'reader> Stream<'reader> {
    pub(crate) fn open(reader: &'reader mut Reader<'_>) -> Result<Stream<'reader>> {
        let loan = reader.lend()?;
        let mut pointer = null_mut();
        call(|error| unsafe { sys::perfile_stream_open(loan.0.pointer, null(), &mut pointer, error) })?;
        let pointer = NonNull::new(pointer).ok_or_else(|| Error::argument("no stream was opened"))?;
        Ok(Stream { pointer, _loan: loan, reader: PhantomData })
    }

    /// The next sample, or `None` at the end. It is valid until the next call.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<Sample<'_>>> {
        let mut sample = null();
        let found = call(|error| unsafe { sys::perfile_stream_next(self.pointer.as_ptr(), &mut sample, error) })?;
        Ok(if found == 1 { Some(Sample { raw: unsafe { &*sample } }) } else { None })
    }

    /// What the frame of a sample is.
    pub fn frame(&self, id: u32) -> Result<Frame> {
        let mut frame: sys::perfile_frame = unsafe { sized() };
        let result = unsafe { sys::perfile_stream_frame(self.pointer.as_ptr(), id, &mut frame) };
        if result < 0 {
            return Err(Error::argument("no sample has such a frame"));
        }
        let module = if frame.module == sys::PERFILE_NO_ID { None } else { Some(frame.module) };
        Ok(Frame { name: unsafe { text(frame.name) }, module, offset: frame.offset, kind: frame.kind })
    }

    /// The frame as flame graphs name it: never empty.
    pub fn label(&mut self, id: u32) -> Result<&str> {
        let label = unsafe { sys::perfile_stream_label(self.pointer.as_ptr(), id) };
        if label.is_null() {
            return Err(Error::argument("no sample has such a frame, or out of memory"));
        }
        Ok(unsafe { CStr::from_ptr(label) }.to_str().unwrap_or("[not UTF-8]"))
    }
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        unsafe { sys::perfile_stream_close(self.pointer.as_ptr()) }
    }
}

/// A sample, valid until the next one is read.
#[derive(Clone, Copy)]
pub struct Sample<'stream> {
    raw: &'stream sys::perfile_stream_sample,
}

impl Sample<'_> {
    /// Ids of the frames, innermost first; at least one.
    pub fn frames(&self) -> &[u32] {
        unsafe { std::slice::from_raw_parts(self.raw.frames, self.raw.frame_count as usize) }
    }

    /// The function of the sampled address, never an inlined one.
    pub fn leaf(&self) -> u32 {
        self.raw.leaf
    }

    /// What the event counted since the last sample, in its unit.
    pub fn period(&self) -> u64 {
        self.raw.period
    }

    /// Nanoseconds on the recording's clock; 0 if it was not recorded.
    pub fn time(&self) -> u64 {
        self.raw.time
    }

    /// -1 if it was not recorded, as of `tid` and `cpu`.
    pub fn pid(&self) -> i32 {
        self.raw.pid
    }

    pub fn tid(&self) -> i32 {
        self.raw.tid
    }

    pub fn cpu(&self) -> i32 {
        self.raw.cpu
    }

    pub fn ip(&self) -> u64 {
        self.raw.ip
    }

    /// The name of the thread; bytes that are not UTF-8 are replaced.
    pub fn comm(&self) -> Option<std::borrow::Cow<'_, str>> {
        if self.raw.comm.is_null() {
            return None;
        }
        Some(unsafe { CStr::from_ptr(self.raw.comm) }.to_string_lossy())
    }

    /// The name of its event, if the recording says which it is.
    pub fn event(&self) -> Option<String> {
        let event = unsafe { self.raw.event.as_ref() }?;
        unsafe { text(event.name) }
    }
}

/// A function that frames of stacks are of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// demangled; `None`: no symbol
    pub name: Option<String>,
    pub module: Option<u32>,
    /// bytes from the start of the function
    pub offset: u64,
    /// `sys::PERFILE_FRAME_USER` and so on
    pub kind: u32,
}
