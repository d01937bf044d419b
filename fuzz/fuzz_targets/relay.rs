//! `cargo fuzz run relay fuzz/corpus/relay fuzz/seeds/relay`; what is looked for stands in `src/relay.rs`.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| callwright_fuzz::relay::check(data));

#[cfg(not(fuzzing))]
fn main() {}
