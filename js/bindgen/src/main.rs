//! `callwright-bindgen MODULE FOLDER NAME`: takes what `cargo build` made for `wasm32-unknown-unknown`, and writes
//! `NAME_bg.wasm` and the `NAME.js` that speaks to it into the folder.

use std::process::ExitCode;

use wasm_bindgen_cli_support::Bindgen;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [module, folder, name] = arguments.as_slice() else {
        eprintln!("usage: callwright-bindgen MODULE FOLDER NAME");
        return ExitCode::FAILURE;
    };
    match generate(module, folder, name) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Whoever loads the module says where it is: each place where JavaScript runs has its own way.
fn generate(module: &str, folder: &str, name: &str) -> Result<(), Box<dyn std::error::Error>> {
    let mut bindgen = Bindgen::new();
    bindgen.input_path(module).out_name(name).typescript(false).omit_default_module_path(true);
    bindgen.remove_name_section(true).remove_producers_section(true);
    bindgen.web(true)?.generate(folder)?;
    Ok(())
}
