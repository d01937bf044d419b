//! `cargo fuzz run parse fuzz/corpus/parse fuzz/seeds/parse`; what is looked for stands in `src/parse.rs`.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| callwright_fuzz::parse::check(data));

#[cfg(not(fuzzing))]
fn main() {}
