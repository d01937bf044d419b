//! How fast JSON is read: valid, broken, and hostile. `cargo bench --manifest-path benches/Cargo.toml`
//!
//! The valid and broken texts are calls that carry code, as agents write files with them; the peers read the
//! same texts in the same run. `serde_json` has no repair: on valid texts it shows what strict reading costs.

#[path = "calls.rs"]
mod calls;
#[path = "../crates/callwright-json/tests/it/hostile/mod.rs"]
mod hostile;

use calls::{Defect, broken, valid};
use callwright_json::{AnyValue, read};
use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use hostile::SHAPES;

fn main() {
    divan::main();
}

/// The sizes of a small, a usual and a large call, in bytes of code.
const SIZES: [usize; 3] = [1_000, 4_000, 100_000];

#[divan::bench_group]
mod valid_calls {
    use super::*;

    #[divan::bench(args = SIZES)]
    fn callwright(bencher: Bencher<'_, '_>, size: usize) {
        measure(bencher, &valid(size), |text| read(text, &AnyValue).readings.len());
    }

    #[divan::bench(args = SIZES)]
    fn serde_json_strict(bencher: Bencher<'_, '_>, size: usize) {
        measure(bencher, &valid(size), |text| serde_json::from_str::<callwright::value::Value>(text).is_ok());
    }

    #[divan::bench(args = SIZES)]
    fn llm_json(bencher: Bencher<'_, '_>, size: usize) {
        measure(bencher, &valid(size), |text| ::llm_json::repair_json(text, &Default::default()).is_ok());
    }

    #[divan::bench(args = SIZES)]
    fn jsonrepair(bencher: Bencher<'_, '_>, size: usize) {
        measure(bencher, &valid(size), |text| ::jsonrepair::repair_json(text, &Default::default()).is_ok());
    }
}

#[divan::bench_group(sample_count = 20)]
mod broken_calls {
    use super::*;

    /// What is broken, in calls of which size.
    fn cases() -> impl Iterator<Item = (Defect, usize)> {
        Defect::ALL.into_iter().flat_map(|defect| SIZES.map(|size| (defect, size)))
    }

    #[divan::bench(args = cases().map(Case::of))]
    fn callwright(bencher: Bencher<'_, '_>, case: &Case) {
        assert_eq!(read(&case.text, &AnyValue).readings.len(), 1, "{case}");
        measure(bencher, &case.text, |text| read(text, &AnyValue).readings.len());
    }

    #[divan::bench(args = cases().map(Case::of))]
    fn llm_json(bencher: Bencher<'_, '_>, case: &Case) {
        measure(bencher, &case.text, |text| ::llm_json::repair_json(text, &Default::default()).is_ok());
    }

    #[divan::bench(args = cases().map(Case::of))]
    fn jsonrepair(bencher: Bencher<'_, '_>, case: &Case) {
        measure(bencher, &case.text, |text| ::jsonrepair::repair_json(text, &Default::default()).is_ok());
    }
}

/// The times should grow as the sizes do.
#[divan::bench_group(sample_count = 3, sample_size = 1)]
mod hostile_texts {
    use super::*;

    fn cases() -> impl Iterator<Item = Case> {
        let sizes = [10_000, 100_000, 1_000_000];
        SHAPES.iter().flat_map(move |shape| {
            sizes.map(|size| Case { name: format!("{} {size}", shape.name), text: shape.text(size) })
        })
    }

    #[divan::bench(args = cases())]
    fn callwright(bencher: Bencher<'_, '_>, case: &Case) {
        measure(bencher, &case.text, |text| read(text, &AnyValue).readings.len());
    }
}

/// A text under a name.
struct Case {
    name: String,
    text: String,
}

impl Case {
    fn of((defect, size): (Defect, usize)) -> Case {
        Case { name: format!("{} {size}", defect.name()), text: broken(size, defect) }
    }
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

fn measure<T>(bencher: Bencher<'_, '_>, text: &str, read: impl Fn(&str) -> T + Sync) {
    bencher.counter(BytesCount::of_str(text)).bench(|| read(black_box(text)));
}
