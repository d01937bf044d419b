// What npm packages that repair JSON make of texts, and what that takes: `node repair.mjs CASES TEXTS`, in a folder that has them.
// The same lines go in and come out as of `src/main.rs`.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { performance } from "node:perf_hooks";

const here = createRequire(`${process.cwd()}/`);
const { jsonrepair } = await import(here.resolve("jsonrepair"));
const { loads } = await import("callwright");
const versionOf = (name) => JSON.parse(readFileSync(`${process.cwd()}/node_modules/${name}/package.json`)).version;

const cases = readFileSync(process.argv[2], "utf8").trim().split("\n").map(JSON.parse);
const texts = JSON.parse(readFileSync(process.argv[3], "utf8"));

const value = (read, text) => {
  try {
    return read(text) ?? null;
  } catch {
    return null;
  }
};

const cost = (read, text) => {
  if (value(read, text) === null) return null;
  let best = Infinity;
  for (let run = 0; run < 200; run += 1) {
    const start = performance.now();
    for (let n = 0; n < 20; n += 1) read(text);
    best = Math.min(best, (performance.now() - start) / 20);
  }
  return best * 1000;
};

const libraries = {
  "jsonrepair (npm)": [versionOf("jsonrepair"), (text) => JSON.parse(jsonrepair(text))],
  "callwright (npm)": ["", loads],
};
for (const [library, [version, read]] of Object.entries(libraries)) {
  const values = cases.map(({ input }) => value(read, input));
  const speed = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, cost(read, text)]));
  console.log(JSON.stringify({ library, version, values, speed }));
}
