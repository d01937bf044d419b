//! Texts that are nearly JSON, the same ones in every run.

/// Texts near JSON: right ones with a few pieces put in, taken out or doubled.
pub(crate) fn broken_texts(n: usize) -> Vec<String> {
    const SEEDS: [&str; 6] = [
        r#"{"tool": "run_code", "arguments": {"code": "print('hello')"}}"#,
        r#"{"a": [1, -2.5e3, true, null], "b": {"c": "\u00e9\ud83d\ude00\n"}, "é": "日本"}"#,
        r#"[{"x": ""}, [], {}, "say \"hi\"", 0, 10, 1E-2]"#,
        "{\n  \"path\": \"C:\\\\dir\",\n  \"n\": 0.10\n}",
        r#""just a string \\ \/ \t""#,
        "[[[[1,2],[3]],{}],false]",
    ];
    const PIECES: [&str; 34] = [
        "{",
        "}",
        "[",
        "]",
        "\"",
        "\\",
        ",",
        ":",
        "'",
        " ",
        "\n",
        "\t",
        "\r",
        "\u{1}",
        "1",
        "0",
        "-",
        ".",
        "e",
        "u",
        "\\u",
        "\\ud83d",
        "true",
        "nul",
        "NaN",
        "Infinity",
        "-Infinity",
        "é",
        "😀",
        "\u{a0}",
        "//",
        "x",
        "\u{7f}",
        "+",
    ];
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    let mut texts = Vec::with_capacity(n);
    for _ in 0..n {
        let mut chars: Vec<char> = SEEDS[next(SEEDS.len())].chars().collect();
        for _ in 0..1 + next(4) {
            let at = next(chars.len() + 1);
            match next(4) {
                0 => chars.truncate(at),
                1 if at < chars.len() => drop(chars.remove(at)),
                _ => drop(chars.splice(at..at, PIECES[next(PIECES.len())].chars())),
            }
        }
        texts.push(chars.into_iter().collect());
    }
    texts
}
