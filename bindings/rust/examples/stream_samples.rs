// SPDX-License-Identifier: MIT
//! stream_samples RECORDING: how many samples each function is in, innermost or not, with memory for the functions only.
use std::collections::HashMap;

fn main() -> perfile::Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "perf.data".to_owned());
    let mut reader = perfile::Reader::open(path)?;
    let mut stream = reader.stream()?;
    let mut counts: Vec<u64> = Vec::new();
    let (mut samples, mut period) = (0u64, 0u64);
    while let Some(sample) = stream.next()? {
        let leaf = sample.leaf() as usize;
        if counts.len() <= leaf {
            counts.resize(leaf + 1, 0);
        }
        counts[leaf] += 1;
        samples += 1;
        period = period.wrapping_add(sample.period());
    }
    let mut names: HashMap<String, u64> = HashMap::new();
    for (id, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        *names.entry(stream.label(id as u32)?.to_owned()).or_default() += count;
    }
    println!("{samples} samples, period {period}");
    let mut rows: Vec<_> = names.into_iter().collect();
    rows.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    for (name, count) in rows {
        println!("{count:8} {name}");
    }
    Ok(())
}
