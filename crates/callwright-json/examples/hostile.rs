#![allow(missing_docs, clippy::print_stdout)]
use callwright_json::{AnyValue, read};
use std::time::Instant;
fn main() {
    let shapes: Vec<(&str, Box<dyn Fn(usize) -> String>)> = vec![
        ("open brackets", Box::new(|n| "[".repeat(n))),
        ("open braces", Box::new(|n| "{".repeat(n))),
        ("nested", Box::new(|n| "{\"a\":".repeat(n / 5))),
        ("nested arr", Box::new(|n| "[[1],".repeat(n / 5))),
        ("quotes", Box::new(|n| "\"".repeat(n))),
        ("quotes in obj", Box::new(|n| format!("{{\"a\":{}", "\"".repeat(n)))),
        ("backslashes", Box::new(|n| format!("{{\"a\":\"{}", "\\".repeat(n)))),
        ("quote colon", Box::new(|n| format!("{{{}", "\":".repeat(n / 2)))),
        ("quote comma", Box::new(|n| format!("{{\"a\":\"{}", "\", \"".repeat(n / 4)))),
        ("quote comma arr", Box::new(|n| format!("[\"{}", "\", \"".repeat(n / 4)))),
        ("members", Box::new(|n| format!("{{\"a\":\"{}", "\", \"b\": \"".repeat(n / 9)))),
        ("members bad end", Box::new(|n| format!("{{\"a\":\"{}x", "\", \"b\": \"c".repeat(n / 9)))),
        ("backticks", Box::new(|n| format!("{{\"a\":`{}", "` \"".repeat(n / 3)))),
        ("closers", Box::new(|n| format!("{{\"a\":1{}", "}".repeat(n)))),
        ("mixed closers", Box::new(|n| format!("{{\"a\":[1{}", "}]".repeat(n / 2)))),
        ("commas", Box::new(|n| format!("[{}", ",".repeat(n)))),
        ("bare words", Box::new(|n| format!("{{a:{}", "b c,".repeat(n / 4)))),
        ("objects", Box::new(|n| "{a:1}".repeat(n / 5))),
        ("half objects", Box::new(|n| "{\"a\" ".repeat(n / 5))),
        ("comments", Box::new(|n| format!("{{{}", "/* */".repeat(n / 5)))),
        ("open comments", Box::new(|n| format!("{{{}", "/*".repeat(n / 2)))),
        ("hash lines", Box::new(|n| format!("{{{}", "#\n".repeat(n / 2)))),
        ("single", Box::new(|n| format!("{{'a':'{}", "', '".repeat(n / 4)))),
        ("triple", Box::new(|n| format!("{{\"a\":{}", "\"\"\" ".repeat(n / 4)))),
        ("smart", Box::new(|n| format!("{{\"a\":“{}", "” ".repeat(n / 4)))),
        ("concat", Box::new(|n| format!("{{\"a\":{}", "\"a\" + ".repeat(n / 6)))),
        ("think", Box::new(|n| "<think>".repeat(n / 7))),
        ("close think", Box::new(|n| "</think>".repeat(n / 8))),
        ("fences", Box::new(|n| "```\n".repeat(n / 4))),
        ("escaped", Box::new(|n| "{\\\"a\\\":".repeat(n / 7))),
        ("array misfit", Box::new(|n| format!("{{\"a\":[{}", "{\"x\":\"y\" z},".repeat(n / 12)))),
        ("newlines", Box::new(|n| format!("{{\"a\":\"{}", "\n".repeat(n)))),
        ("array strings bad", Box::new(|n| format!("[{}\"x \"y\" z\"", "\"a\",".repeat(n / 4)))),
        ("words", Box::new(|n| "a ".repeat(n / 2))),
        ("lost closers", Box::new(|n| format!("{{\"a\":\"{}", ", \"b\": ".repeat(n / 7)))),
    ];
    let only = std::env::args().nth(1);
    for (name, make) in &shapes {
        if only.as_deref().is_some_and(|o| o != *name) {
            continue;
        }
        print!("{name:18}");
        for n in [1_000, 10_000, 100_000, 1_000_000, 10_000_000] {
            let text = make(n);
            let t = Instant::now();
            let parse = std::thread::scope(|s| {
                std::thread::Builder::new()
                    .stack_size(128 * 1024)
                    .spawn_scoped(s, || read(&text, &AnyValue).readings.len())
                    .unwrap()
                    .join()
                    .unwrap()
            });
            print!(" {:9.2}ms/{parse}", t.elapsed().as_secs_f64() * 1e3);
            if t.elapsed().as_secs_f64() > 5.0 {
                break;
            }
        }
        println!();
    }
}
