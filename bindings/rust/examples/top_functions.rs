// SPDX-License-Identifier: MIT
//! top_functions RECORDING: the functions that the samples of each event were taken in, heaviest first.
fn main() -> perfile::Result<()> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "perf.data".to_owned());
    let profile = perfile::Reader::open(path)?.profile("")?;
    for (number, event) in profile.events()?.iter().enumerate() {
        for function in profile.top_functions(number as u32)? {
            let module = function.module.as_deref().unwrap_or("[unknown]");
            let name = function.name.as_deref().unwrap_or("");
            println!("{}\t{}\t{}\t{}\t{}", event.name, function.self_samples, function.self_period, module, name);
        }
    }
    Ok(())
}
