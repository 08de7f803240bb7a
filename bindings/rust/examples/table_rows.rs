// SPDX-License-Identifier: MIT
//! table_rows RECORDING [VIEW [COLUMNS]]: the rows of a view, with tabs between the columns.
fn main() -> perfile::Result<()> {
    let mut words = std::env::args().skip(1);
    let path = words.next().unwrap_or_else(|| "perf.data".to_owned());
    let (view, columns) = (words.next().unwrap_or_else(|| "samples".to_owned()), words.next().unwrap_or_default());
    let mut reader = perfile::Reader::open(path)?;
    let mut table = reader.table(&view, &columns)?;
    let names: Vec<_> = table.columns().iter().map(|column| column.name.clone()).collect();
    println!("{}", names.join("\t"));
    while let Some(batch) = table.next()? {
        for row in 0..batch.row_count() {
            let values: Vec<_> = batch.row(row).iter().map(ToString::to_string).collect();
            println!("{}", values.join("\t"));
        }
    }
    Ok(())
}
