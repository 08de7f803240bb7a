// SPDX-License-Identifier: MIT
//! folded RECORDING: the stacks of the event with the most samples in a line each, for tools that draw flame graphs.
use std::collections::{BTreeMap, HashMap};

fn main() -> perfile::Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "perf.data".to_owned());
    let profile = perfile::Reader::open(path)?.profile("comm")?;
    let mut samples: HashMap<u32, u64> = HashMap::new();
    let mut folded: HashMap<u32, BTreeMap<String, u64>> = HashMap::new();
    for row in profile.rows() {
        let row = row?;
        let mut line = row.comm.unwrap_or_default().replace(' ', "_");
        for frame in profile.frames(row.stack)?.iter().rev() {
            line = line + ";" + &profile.label(*frame)?;
        }
        *samples.entry(row.event).or_default() += row.samples;
        *folded.entry(row.event).or_default().entry(line).or_default() += row.period;
    }
    let most = samples.iter().max_by_key(|(event, count)| (**count, std::cmp::Reverse(**event))).map(|(event, _)| *event);
    for (stack, period) in most.and_then(|event| folded.remove(&event)).unwrap_or_default() {
        if period > 0 {
            println!("{stack} {period}");
        }
    }
    Ok(())
}
