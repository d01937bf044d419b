// What the pages print runs, and the table beside jsonrepair is true of both.
import assert from "node:assert/strict";
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

import { jsonrepair } from "jsonrepair";

import { RefusedError, heal } from "callwright";

const docs = join(process.env.CALLWRIGHT_ROOT, "docs/javascript");
const read = (page) => readFileSync(join(docs, page), "utf8");

for (const page of readdirSync(docs)) {
  for (const [number, [, note, code]] of [...read(page).matchAll(/(<!-- not run: .+ -->\n)?```js\n(.*?)```/gs)].entries()) {
    if (note) continue;
    test(`the examples of ${page}, ${number + 1}`, async () => {
      // Beside this file, so that the package is found.
      const file = new URL(`example-${page}-${number}.mjs`, import.meta.url);
      writeFileSync(file, `import assert from "node:assert/strict";\n${code}`);
      try {
        await import(file);
      } finally {
        rmSync(file);
      }
    });
  }
}

/** What a reader makes of a text: what it gives, or that it does not. */
const told = (work, refused) => {
  try {
    return `\`${work()}\``;
  } catch (error) {
    return refused(error);
  }
};

test("the table beside jsonrepair", () => {
  const rows = [...read("jsonrepair.md").matchAll(/^\| `(.+?)` \| (.+?) \| (.+?) \|$/gm)];
  assert.ok(12 < rows.length);
  for (const [, text, theirs, ours] of rows) {
    assert.equal(told(() => jsonrepair(text), () => "throws"), theirs, text);
    const refused = (error) => (error instanceof RefusedError ? `refused: ${error.code}` : assert.fail(error));
    assert.equal(told(() => heal(text).text, refused), ours, text);
  }
});
