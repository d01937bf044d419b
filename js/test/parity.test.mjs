// The corpus through this door: the report is the one of `callwright parse --json`, to the byte, whole and in pieces.
//
// The command is the one that `CALLWRIGHT_BIN` names.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";

import { parse as toml, stringify } from "smol-toml";

import * as light from "callwright";
import * as full from "callwright/full";

const corpus = join(process.env.CALLWRIGHT_ROOT, "corpus");
const binary = process.env.CALLWRIGHT_BIN;
const home = mkdtempSync(join(tmpdir(), "callwright-parity-"));
after(() => rmSync(home, { recursive: true }));

const TOOLS = JSON.stringify(
  [
    ["get_weather", "city", { city: "string", unit: "string", days: "integer" }],
    ["list_files", "", {}],
    ["write_file", "path content", { path: "string", content: "string" }],
    ["run_code", "code", { code: "string" }],
    ["substitute_ingredient", "ingredient", { ingredient: "string", reason: "string" }],
    ["search_recipes", "query", { query: "string" }],
    ["add_numbers", "a b", { a: "number", b: "number", label: "string", exact: "boolean" }],
    ["search", "", { query: "string" }],
  ].map(([name, required, members]) => ({
    name,
    parameters: {
      type: "object",
      required: required.split(" ").filter(Boolean),
      properties: Object.fromEntries(Object.entries(members).map(([key, type]) => [key, { type }])),
    },
  })),
);

/** A case with `forms` is as many: each form stands in the text in place of `⟨⟩`. */
const forms = (one) => (one.forms ?? ["⟨⟩"]).map((form) => ({ ...one, text: one.text.replaceAll("⟨⟩", () => form) }));

const command = (given) =>
  new Promise((done, failed) =>
    execFile(binary, given, { env: { HOME: home }, maxBuffer: 1 << 26 }, (error, out, err) =>
      out ? done(out) : failed(error ?? new Error(err)),
    ),
  );

let files = 0;

const differences = async (one, own) => {
  const number = (files += 1);
  const [text, tools, config] = ["txt", "json", "toml"].map((kind) => join(home, `${number}.${kind}`));
  writeFileSync(text, one.text);
  writeFileSync(tools, one.tools ?? TOOLS);
  writeFileSync(config, own.length === 0 ? "" : stringify({ dialect: own }));
  const given = ["parse", "--json", "--tools", tools, "--config", config];
  const told = { "--dialect": one.only, "--asked": one.asked, "--start": one.start, "--tool-choice": one.choice };
  for (const [flag, value] of Object.entries(told)) {
    if (value !== undefined) given.push(flag, value);
  }
  if (one.native) given.push("--native");
  const expected = (await command([...given, text])).trimEnd();
  const options = {
    nativeMode: one.native ?? false,
    asked: one.asked,
    toolChoice:
      one.choice === undefined || one.choice === "required" ? one.choice : { type: "function", function: { name: one.choice } },
    startsInReasoning: one.start === "reasoning",
    dialects: own,
    only: one.only,
  };
  const found = [];
  for (const [name, { Scanner, ToolSet, parse }] of Object.entries({ light, full })) {
    kept(new ToolSet(one.tools ?? TOOLS), (tools) => {
      // What the light build does not hold against values, it says.
      if (!tools.isFullyChecked) return;
      const whole = parse(one.text, tools, options).report();
      if (whole !== expected) found.push(`${name}: ${one.name}: ${whole}\nbut ${expected}`);
      kept(new Scanner(tools, options), (scanner) => {
        for (let at = 0; at < one.text.length; at += 1) scanner.feed(one.text[at]);
        scanner.finish();
        const pieces = scanner.outcome.report();
        if (pieces !== whole) found.push(`${name}: ${one.name}, by units: ${pieces}\nbut ${whole}`);
      });
    });
  }
  return found;
};

const kept = (owned, use) => {
  try {
    return use(owned);
  } finally {
    owned.free();
  }
};

const tables = readdirSync(corpus).filter((name) => name.endsWith(".toml")).sort();
for (const name of tables) {
  test(`the report is that of the command: ${name}`, async () => {
    const table = toml(readFileSync(join(corpus, name), "utf8"));
    const cases = table.case.flatMap(forms);
    assert.notEqual(cases.length, 0);
    const found = [];
    const rest = cases.values();
    const worker = async () => {
      for (const one of rest) found.push(...(await differences(one, table.dialect ?? [])));
    };
    await Promise.all(Array.from({ length: availableParallelism() }, worker));
    assert.deepEqual(found, []);
  });
}

for (const name of readdirSync(join(corpus, "json")).filter((name) => name.endsWith(".toml")).sort()) {
  test(`a text is healed as its case says: ${name}`, () => {
    const { schemas = {}, case: cases } = toml(readFileSync(join(corpus, "json", name), "utf8"));
    for (const { name, input, expect, schema, finish_reason: finishReason } of cases) {
      for (const { heal, RefusedError, Schema } of [light, full]) {
        const compiled = schema === undefined ? undefined : new Schema(schemas[schema]);
        if (compiled && !compiled.isFullyChecked) continue;
        try {
          const healed = heal(input, compiled, { finishReason });
          assert.equal(healed.text, expect.text, name);
          const bytes = (at) => Buffer.byteLength(input.slice(0, at));
          const repairs = healed.repairs.map(({ kind, start, end }) => `${kind} ${bytes(start)}..${bytes(end)}`);
          assert.deepEqual(repairs, expect.repairs ?? [], name);
          const coercions = healed.coercions.map(({ pointer, before, after }) => `${pointer} ${before} → ${after}`);
          assert.deepEqual(coercions, expect.coercions ?? [], name);
        } catch (error) {
          if (!(error instanceof RefusedError)) throw error;
          assert.equal(error.code, expect.refused, name);
        }
      }
    }
  });
}
