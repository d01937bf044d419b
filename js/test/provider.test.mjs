// The AI SDK over a server that speaks as OpenAI does, and whose model writes its calls as text.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Output, generateText, isStepCount, streamText, tool } from "ai";
import { z } from "zod";

import { createCallwright } from "callwright/ai-sdk/provider";

import { scripted } from "./server.mjs";

const TEXT_CALL = '<tool_call>{"name": "write", "arguments": {\'path\': "a",}}</tool_call>';
const whole = (content) => ({ id: "1", model: "m", created: 1, choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }] });
const chunks = (content) => [
  ...content.match(/[^]{1,4}/g).map((piece) => ({ id: "1", model: "m", choices: [{ index: 0, delta: { content: piece }, finish_reason: null }] })),
  { id: "1", model: "m", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
];

for (const [name, run, answer] of [
  ["whole", generateText, whole],
  ["streamed", streamText, chunks],
]) {
  test(`${name}: a call in the text runs`, () =>
    scripted([answer(TEXT_CALL), answer("Done.")], async (url, asked) => {
      const callwright = createCallwright({ baseURL: url, apiKey: "k" });
      const ran = [];
      const write = tool({ inputSchema: z.object({ path: z.string() }), execute: async (input) => (ran.push(input), "written") });
      const result = await run({ model: callwright("m"), prompt: "x", tools: { write }, stopWhen: isStepCount(3) });
      assert.equal(await result.text, "Done.");
      assert.deepEqual(ran, [{ path: "a" }]);
      assert.equal(asked[0].model, "m");
    }));

  test(`${name}: structured output is repaired`, () =>
    scripted([answer("```json\n{'n': 5,}\n```")], async (url) => {
      const model = createCallwright({ baseURL: url })("m");
      const result = await run({ model, prompt: "x", output: Output.object({ schema: z.object({ n: z.number() }) }) });
      assert.deepEqual(await result.output, { n: 5 });
    }));
}

test("options of the middleware reach it, and a server without an address is a mistake", async () => {
  const unsure = `Sure.\n${TEXT_CALL}\nDone!`;
  await scripted([whole(unsure)], async (url, asked) => {
    const callwright = createCallwright({ baseURL: url, middleware: { policy: "strict" } });
    const write = tool({ inputSchema: z.object({ path: z.string() }) });
    const { text } = await generateText({ model: callwright("m"), prompt: "x", tools: { write } });
    assert.deepEqual([text, asked.length], [unsure, 1]);
  });
  assert.throws(() => createCallwright({}), TypeError);
});
