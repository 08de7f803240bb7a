// SPDX-License-Identifier: MIT
//! Reads Linux perf.data files with libperfile.
//!
//! ```no_run
//! let mut reader = perfile::Reader::open("perf.data")?;
//! let profile = reader.profile("")?;
//! for function in profile.top_functions(0)?.iter().take(10) {
//!     println!("{:8} {}", function.self_period, function.label);
//! }
//! # Ok::<(), perfile::Error>(())
//! ```
//!
//! A [`Reader`] is at its start when it was opened or rewound; a [`Stream`] or a [`Table`] borrows it while it reads,
//! so that the compiler keeps the rules of the C interface. [`sys`] has all of that interface, for what is not here.
#![deny(unsafe_op_in_unsafe_fn)]

mod error;
mod profile;
mod reader;
mod stream;
#[allow(non_camel_case_types, non_upper_case_globals, dead_code, clippy::all)]
pub mod sys;
mod table;

pub use error::{Error, Result};
pub use profile::{Function, Profile, ProfileEvent, Row};
pub use reader::{Event, Reader, Record};
pub use stream::{Frame, Sample, Stream};
pub use table::{Batch, Column, Table, Value};

use std::ffi::CStr;
use std::os::raw::c_char;

/// The offset of what has no position in the recording.
pub const NO_OFFSET: u64 = sys::PERFILE_NO_OFFSET as u64;

/// A struct of the C interface as its `PERFILE_*_INIT` makes it: zeros, and its size in the first member.
///
/// # Safety
/// `T` is a struct of the C interface that begins with `size`.
pub unsafe fn sized<T>() -> T {
    let mut made = std::mem::MaybeUninit::<T>::zeroed();
    unsafe {
        made.as_mut_ptr().cast::<usize>().write(std::mem::size_of::<T>());
        made.assume_init()
    }
}

/// Texts are bytes of the recording: those that are not UTF-8 are replaced.
pub(crate) unsafe fn text(from: *const c_char) -> Option<String> {
    if from.is_null() {
        return None;
    }
    Some(unsafe { CStr::from_ptr(from) }.to_string_lossy().into_owned())
}

/// The version of the library.
pub fn version() -> &'static str {
    unsafe { CStr::from_ptr(sys::perfile_version()) }.to_str().unwrap_or("")
}
