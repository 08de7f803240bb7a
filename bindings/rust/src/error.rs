// SPDX-License-Identifier: MIT
use crate::{sys, text, NO_OFFSET};
use std::mem::MaybeUninit;

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// `sys::PERFILE_ERROR_OPEN` and so on
    pub code: i32,
    pub message: String,
    /// where in the recording
    pub offset: Option<u64>,
}

pub type Result<T> = std::result::Result<T, Error>;

impl std::fmt::Display for Error {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

impl Error {
    pub(crate) fn argument(message: &str) -> Error {
        Error { code: sys::PERFILE_ERROR_ARGUMENT, message: message.to_owned(), offset: None }
    }
}

/// Calls a function of the C interface; what it returns when that is not an error.
pub(crate) fn call(function: impl FnOnce(*mut sys::perfile_error) -> i32) -> Result<i32> {
    let mut error = MaybeUninit::<sys::perfile_error>::zeroed();
    let result = function(error.as_mut_ptr());
    if result >= 0 {
        return Ok(result);
    }
    let error = unsafe { error.assume_init() };
    let offset = if error.offset == NO_OFFSET { None } else { Some(error.offset) };
    let message = unsafe { text(error.message.as_ptr()) }.unwrap_or_default();
    Err(Error { code: result, message, offset })
}
