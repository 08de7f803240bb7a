// SPDX-License-Identifier: MIT
use crate::error::{call, Error, Result};
use crate::{sized, sys, text};
use std::collections::HashMap;
use std::ffi::CString;
use std::ptr::{null_mut, NonNull};

/// The samples of a recording, added up. It never changes, so that any number of threads may read it.
pub struct Profile {
    pointer: NonNull<sys::perfile_profile>,
}

unsafe impl Send for Profile {}
unsafe impl Sync for Profile {}

/// A function, and what it weighs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// demangled; `None`: no symbol
    pub name: Option<String>,
    /// never empty
    pub label: String,
    /// name of its module; `None`: nothing is mapped there
    pub module: Option<String>,
    pub self_samples: u64,
    pub self_period: u64,
}

/// What was counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileEvent {
    pub name: String,
    /// of periods
    pub unit: String,
}

/// Samples with the same stack and keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub event: u32,
    /// the node where its stack ends; see [`Profile::frames`]
    pub stack: u32,
    /// the frame of the sampled address
    pub leaf: u32,
    pub samples: u64,
    pub period: u64,
    /// of those that are kept apart by thread name
    pub comm: Option<String>,
}

/// Fills a struct of the C interface by its number.
macro_rules! at {
    ($self:ident, $function:ident, $index:expr) => {{
        let mut filled = unsafe { sized() };
        let result = unsafe { sys::$function($self.pointer.as_ptr(), $index as _, &mut filled) };
        if result == 0 {
            Ok(filled)
        } else {
            Err(Error::argument("the profile has no such number"))
        }
    }};
}

impl Profile {
    pub(crate) fn open(reader: *mut sys::perfile_reader, keys: &str) -> Result<Profile> {
        let keys = CString::new(keys).map_err(|_| Error::argument("the keys have a NUL"))?;
        let mut options: sys::perfile_profile_options = unsafe { sized() };
        if !keys.as_bytes().is_empty() {
            options.keys = keys.as_ptr();
        }
        let mut pointer = null_mut();
        call(|error| unsafe { sys::perfile_profile_open(reader, &options, &mut pointer, error) })?;
        let pointer = NonNull::new(pointer).ok_or_else(|| Error::argument("no profile was made"))?;
        Ok(Profile { pointer })
    }

    pub fn events(&self) -> Result<Vec<ProfileEvent>> {
        let count = unsafe { sys::perfile_profile_event_count(self.pointer.as_ptr()) };
        (0..count)
            .map(|index| {
                let event: sys::perfile_profile_event = at!(self, perfile_profile_event_at, index)?;
                let (name, unit) = unsafe { (text(event.name), text(event.unit)) };
                Ok(ProfileEvent { name: name.unwrap_or_default(), unit: unit.unwrap_or_default() })
            })
            .collect()
    }

    pub fn row_count(&self) -> usize {
        unsafe { sys::perfile_profile_sample_count(self.pointer.as_ptr()) as usize }
    }

    pub fn row(&self, index: usize) -> Result<Row> {
        let sample: sys::perfile_profile_sample = at!(self, perfile_profile_sample_at, index)?;
        let values = unsafe { std::slice::from_raw_parts(sample.values, sample.value_count as usize) };
        let (samples, period) = (values[0], values.get(1).copied().unwrap_or(0));
        let comm = unsafe { text(sample.comm) };
        Ok(Row { event: sample.event, stack: sample.stack, leaf: sample.leaf, samples, period, comm })
    }

    pub fn rows(&self) -> impl Iterator<Item = Result<Row>> + '_ {
        (0..self.row_count()).map(move |index| self.row(index))
    }

    /// The frames of a stack, innermost first.
    pub fn frames(&self, stack: u32) -> Result<Vec<u32>> {
        let mut frames = Vec::new();
        let mut next = stack;
        while next != sys::PERFILE_NO_ID {
            let node: sys::perfile_profile_stack = at!(self, perfile_profile_stack_at, next)?;
            frames.push(node.frame);
            next = node.parent;
        }
        Ok(frames)
    }

    /// The number of the function of a frame.
    pub fn function_of(&self, frame: u32) -> Result<u32> {
        let frame: sys::perfile_profile_frame = at!(self, perfile_profile_frame_at, frame)?;
        Ok(frame.function)
    }

    /// A function, without weights.
    pub fn function(&self, number: u32) -> Result<Function> {
        let function: sys::perfile_profile_function = at!(self, perfile_profile_function_at, number)?;
        let mut module = None;
        if function.module != sys::PERFILE_NO_ID {
            let found: sys::perfile_module = at!(self, perfile_profile_module_at, function.module)?;
            module = unsafe { text(found.short_name) };
        }
        let (name, label) = unsafe { (text(function.name), text(function.label)) };
        Ok(Function { name, label: label.unwrap_or_default(), module, self_samples: 0, self_period: 0 })
    }

    /// The label of a frame's function, as flame graphs have it.
    pub fn label(&self, frame: u32) -> Result<String> {
        Ok(self.function(self.function_of(frame)?)?.label)
    }

    /// The functions that samples of an event were taken in, heaviest first.
    pub fn top_functions(&self, event: u32) -> Result<Vec<Function>> {
        let mut weights: HashMap<u32, (u64, u64)> = HashMap::new();
        for row in self.rows() {
            let row = row?;
            if row.event == event {
                let weight = weights.entry(self.function_of(row.leaf)?).or_default();
                weight.0 = weight.0.saturating_add(row.samples);
                weight.1 = weight.1.saturating_add(row.period);
            }
        }
        let mut found = Vec::with_capacity(weights.len());
        for (number, (self_samples, self_period)) in weights {
            found.push((number, Function { self_samples, self_period, ..self.function(number)? }));
        }
        found.sort_by_key(|(number, function)| (std::cmp::Reverse(function.self_period), *number));
        Ok(found.into_iter().map(|(_, function)| function).collect())
    }
}

impl Drop for Profile {
    fn drop(&mut self) {
        unsafe { sys::perfile_profile_close(self.pointer.as_ptr()) }
    }
}
