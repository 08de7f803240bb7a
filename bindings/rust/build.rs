// SPDX-License-Identifier: MIT
//! Finds libperfile with pkg-config, or in the folder that PERFILE_LIB_DIR names.
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=PERFILE_LIB_DIR");
    println!("cargo:rerun-if-env-changed=PKG_CONFIG_PATH");
    if let Ok(folder) = std::env::var("PERFILE_LIB_DIR") {
        println!("cargo:rustc-link-search=native={folder}");
        println!("cargo:rustc-link-lib=perfile-analysis");
        println!("cargo:rustc-link-lib=perfile");
        return;
    }
    let found = Command::new("pkg-config").args(["--libs", "perfile-analysis"]).output();
    let text = match found {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).into_owned(),
        _ => panic!("pkg-config does not find perfile-analysis: install libperfile-dev, or set PERFILE_LIB_DIR"),
    };
    for word in text.split_whitespace() {
        if let Some(folder) = word.strip_prefix("-L") {
            println!("cargo:rustc-link-search=native={folder}");
        } else if let Some(library) = word.strip_prefix("-l") {
            println!("cargo:rustc-link-lib={library}");
        }
    }
}
