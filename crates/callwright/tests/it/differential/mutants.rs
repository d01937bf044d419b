//! Mutants.
#![allow(clippy::all, missing_docs, dead_code)]
use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::Ordering::Relaxed;
use callwright::mu::{ACTIVE, N, RECORD, SEEN, STEPS};
use callwright::{Context, NativeCall, Verdict, parse, ToolSet};
use super::outcomes::Said;
use super::sources::{self, Origin};
use crate::common::question::Question;

struct Stat { tried: [u32; 3], changes: BTreeMap<String, u32>, example: Vec<String> }
struct Muts { stats: Vec<Option<Stat>>, shard: u64, shards: u64, caps: [u32; 3], mode: Option<HashSet<u32>> }

fn said(run: &dyn Fn() -> Said) -> Option<Said> {
    STEPS.store(0, Relaxed);
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).ok()
}
impl Muts {
    fn take(&mut self, origin: usize, text: &str, run: &dyn Fn() -> Said) {
        SEEN.iter().for_each(|s| s.store(0, Relaxed));
        RECORD.store(true, Relaxed);
        let base = run();
        RECORD.store(false, Relaxed);
        let seen: Vec<u8> = SEEN.iter().map(|s| s.load(Relaxed)).collect();
        for id in 0..N {
            for bit in 0..2u32 {
                if seen[id] & (1 << bit) == 0 { continue; }
                // saw true (bit 0) -> mutant false (2*id); saw false -> mutant true
                let mutant = 2 * id as u32 + bit;
                if u64::from(mutant / 2) % self.shards != self.shard { continue; }
                let stat = self.stats[mutant as usize].get_or_insert_with(|| Stat { tried: [0; 3], changes: BTreeMap::new(), example: Vec::new() });
                if stat.tried[origin] >= self.caps[origin] { continue; }
                stat.tried[origin] += 1;
                ACTIVE.store(mutant, Relaxed);
                let new = said(run);
                ACTIVE.store(u32::MAX, Relaxed);
                let change = match new {
                    None => Some("PANIC".to_owned()),
                    Some(new) => base.change_to(&new).map(|c| c.to_string()),
                };
                if let Some(change) = change {
                    let o = ["recorded", "corpus", "made"][origin];
                    if stat.example.len() < 3 { stat.example.push(format!("{o} {change} {text:?}")); }
                    *stat.changes.entry(format!("{o}: {change}")).or_default() += 1;
                }
            }
        }
    }
}
#[test]
fn mutants() {
    std::panic::set_hook(Box::new(|_| {}));
    let env = |k: &str, d: u64| std::env::var(k).ok().and_then(|v| v.parse().ok()).unwrap_or(d);
    let mut muts = Muts { stats: (0..2 * N).map(|_| None).collect(), shard: env("SHARD", 0), shards: env("SHARDS", 1), caps: [env("CAPR", 25) as u32, env("CAPC", 40) as u32, env("CAPM", 40) as u32], mode: None };
    let started = std::time::Instant::now();
    let mut n = 0;
    sources::each(&mut |origin, _key, q: &Question<'_>| {
        if matches!(origin, Origin::Corpus) {
            n += 1;
            let text = format!("{} {:?}", q.text, q.native);
            muts.take(1, &text, &|| Said::of(&q.whole()));
        }
    });
    eprintln!("corpus {n} {:?}", started.elapsed());
    for file in std::env::var("MUFILES").unwrap_or_default().split(':').filter(|f| !f.is_empty()) {
        let is_rec = file.contains("calls-dev");
        let mut k = 0u64;
        let every = env("EVERY", 1);
        for line in std::fs::read_to_string(file).unwrap().lines() {
            k += 1;
            if is_rec && k % every != 0 { continue; }
            let Ok(v) = line.parse::<callwright::value::Value>() else { continue };
            let get = |key: &str| v.get(key);
            let Some(text) = get("text").and_then(|t| t.as_str()) else { continue };
            let Some(tools) = get("tools") else { continue };
            let Ok(set) = ToolSet::from_json(&tools.to_string()) else { continue };
            let fr = get("finish_reason").and_then(|t| t.as_str()).map(|s| s.to_owned());
            let native = get("native").and_then(|t| t.as_bool()).unwrap_or(false);
            let asked = get("asked").and_then(|t| t.as_str()).map(|s| s.to_owned());
            let context = Context { finish_reason: fr.as_deref(), native, asked: asked.as_deref(), ..Context::default() };
            let calls: Vec<NativeCall<'_>> = Vec::new();
            let show = if is_rec { String::from(file.rsplit('/').nth(1).unwrap_or("")) + " " + text } else { String::from(file.rsplit('/').nth(1).unwrap_or("")) + " " + text };
            muts.take(if is_rec { 0 } else { 1 }, &show, &|| Said::of(&parse(&set, text, &calls, &context)));
        }
        eprintln!("{file} {k} {:?}", started.elapsed());
    }
    let mut m = 0u64;
    let mut seen = HashSet::new();
    let every = env("EVERYM", 3);
    sources::each(&mut |origin, key, q: &Question<'_>| {
        if matches!(origin, Origin::Generator) && seen.insert(key) {
            m += 1;
            if key % every != 0 { return; }
            let text = format!("{} {:?}", q.text, q.native);
            muts.take(2, &text, &|| Said::of(&q.whole()));
        }
    });
    eprintln!("made {m} {:?}", started.elapsed());
    let out: String = muts.stats.iter().enumerate().filter_map(|(i, s)| s.as_ref().map(|s| format!("{i}\t{:?}\t{:?}\t{:?}\n", s.tried, s.changes, s.example))).collect();
    std::fs::write(std::env::var("MUOUT").unwrap_or("/tmp/mu_out.tsv".into()), out).unwrap();
}
