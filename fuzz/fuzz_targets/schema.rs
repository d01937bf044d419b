//! `cargo fuzz run schema fuzz/corpus/schema fuzz/seeds/schema`; what is looked for stands in `src/schema.rs`.
#![cfg_attr(fuzzing, no_main)]

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|data: &[u8]| callwright_fuzz::schema::check(data));

#[cfg(not(fuzzing))]
fn main() {}
