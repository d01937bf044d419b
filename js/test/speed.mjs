// What one text costs, in microseconds to a text, to a value and to calls, beside jsonrepair; and the first call after start.
//
//     cargo xtask javascript && node target/npm/test/speed.mjs
//
// Each figure is the best of many short runs, as a machine is seldom alone with them; `wrong` says that the value is not the
// one that the text was made from.
import { deepStrictEqual } from "node:assert";
import { execFileSync } from "node:child_process";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";

if (process.argv[2] === "start") {
  const start = performance.now();
  const { loads } = await import(process.argv[3]);
  loads("{a: 1}");
  console.log(performance.now() - start);
  process.exit();
}

const { jsonrepair } = await import("jsonrepair");
const { ToolSet, heal, loads, parse } = await import("callwright");

// The same code as in the benchmarks of the reader itself.
const written = (n) => `\
/// Adds up the entries of group ${n}, and says how many were left out.
pub fn total_${n}(entries: &[Entry], skip: Option<&str>) -> Result<u64, ReportError> {
    let mut sum = ${n};
    for entry in entries.iter().filter(|e| e.group == ${n}) {
        if skip.is_some_and(|name| name == entry.name) {
            eprintln!("skipped {}", entry.name);
            continue;
        }
        sum += entry.value.checked_mul(2).ok_or(ReportError::Overflow)?;
    }
    Ok(sum)
}

`;
const code = { path: "src/total.rs", content: Array.from({ length: 8 }, (_, n) => written(n)).join("") };
const small = { city: "Paris", days: 3, unit: "c" };
const valid = JSON.stringify(code);
const texts = {
  "a small call": [JSON.stringify(small), small],
  "the same, other quotes and a comma": ["{'city': 'Paris', 'days': 3, 'unit': 'c',}", small],
  [`${(valid.length / 1000).toFixed(1)} KB of code`]: [valid, code],
  "the same, a comma at its end": [`${valid.slice(0, -1)},}`, code],
  "the same, nothing escaped": [`{"path": "src/total.rs", "content": "${code.content}"}`, code],
};

const cost = (work) => {
  let best = Infinity;
  for (let run = 0; run < 200; run += 1) {
    const start = performance.now();
    for (let n = 0; n < 50; n += 1) work();
    best = Math.min(best, (performance.now() - start) / 50);
  }
  return (best * 1000).toFixed(1);
};

const told = (read, text, value) => {
  let is = "";
  try {
    deepStrictEqual(JSON.parse(JSON.stringify(read(text))), value);
  } catch (error) {
    if (error.code !== "ERR_ASSERTION") return "throws";
    is = " wrong";
  }
  return cost(() => read(text)) + is;
};

console.log("| µs | JSON.parse | jsonrepair, to a text | callwright, to a text | callwright, to a value |\n|---|---|---|---|---|");
for (const [name, [text, value]] of Object.entries(texts)) {
  const ours = cost(() => heal(text).text);
  const theirs = told((text) => JSON.parse(jsonrepair(text)), text, value);
  const repaired = theirs === "throws" ? theirs : cost(() => jsonrepair(text)) + (theirs.endsWith("wrong") ? " wrong" : "");
  console.log(`| ${name} | ${told(JSON.parse, text, value)} | ${repaired} | ${ours} | ${told(loads, text, value)} |`);
}
const tools = new ToolSet([{ name: "get_weather", parameters: { type: "object", properties: { city: { type: "string" } } } }]);
const answers = {
  "a small call": '{"name": "get_weather", "arguments": {"city": "Paris"}}',
  "the same in marks": '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>',
  "the same behind words, in other quotes": "Sure. <tool_call>{'name': 'get_weather', 'arguments': {'city': 'Paris'}}</tool_call>",
};
for (const [name, answer] of Object.entries(answers)) {
  console.log(`parse of ${name}: ${cost(() => parse(answer, tools))} µs`);
}
const starts = ["callwright", "callwright/full"].map((name) =>
  Math.min(...Array.from({ length: 10 }, () => Number(execFileSync(process.execPath, [fileURLToPath(import.meta.url), "start", name])))),
);
console.log(`first call after start: ${starts[0].toFixed(1)} ms, of the full build ${starts[1].toFixed(1)} ms`);
