//! `cargo fuzz run heal fuzz/corpus/heal fuzz/seeds/heal`; what is looked for stands in `src/heal.rs`.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| callwright_fuzz::heal::check(data));

#[cfg(not(fuzzing))]
fn main() {}
