// The AI SDK, in its current versions, over models that write their calls badly.
import assert from "node:assert/strict";
import { test } from "node:test";

import * as ai7 from "ai";
import * as mocks7 from "ai/test";
import * as ai6 from "ai6";
import * as mocks6 from "ai6/test";
import { z } from "zod";

import { callwrightMiddleware, repairText, repairToolCall } from "callwright/ai-sdk";

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const stop = { unified: "stop", raw: "stop" };

/** Arguments that no `JSON.parse` takes, and what they say. */
const MALFORMED = {
  "a bracket is missing at the end of a marked call": ['{"path": "a.txt", "content": "x"', null],
  "a comma too many": ['{"path": "a.txt", "content": "x",}', { path: "a.txt", content: "x" }],
  "other quotes": ["{'path': 'a.txt', 'content': 'x'}", { path: "a.txt", content: "x" }],
  "bare keys": ['{path: "a.txt", content: "x"}', { path: "a.txt", content: "x" }],
  "a quote that is not escaped": ['{"path": "a.txt", "content": "say "hi" now"}', { path: "a.txt", content: 'say "hi" now' }, null],
  "a raw line break": ['{"path": "a.txt", "content": "one\ntwo"}', { path: "a.txt", content: "one\ntwo" }],
  "a fence around it": ['```json\n{"path": "a.txt", "content": "x"}\n```', { path: "a.txt", content: "x" }],
  "two brackets too many": ['{"path": "a.txt", "content": "x"}}}', { path: "a.txt", content: "x" }],
};

const DIALECTS = {
  hermes: '<tool_call>{"name": "write_file", "arguments": {"path": "a.txt", "content": "x"}}</tool_call>',
  mistral: '[TOOL_CALLS][{"name": "write_file", "arguments": {"path": "a.txt", "content": "x"}}]',
  qwen3_coder:
    "<tool_call>\n<function=write_file>\n<parameter=path>\na.txt\n</parameter>\n<parameter=content>\nx\n</parameter>\n</function>\n</tool_call>",
  pythonic: '[write_file(path="a.txt", content="x")]',
  kimi_k2:
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.write_file:0<|tool_call_argument_begin|>{"path": "a.txt", "content": "x"}<|tool_call_end|><|tool_calls_section_end|>',
};

for (const [version, specificationVersion, ai, Model] of [
  ["6", "v3", ai6, mocks6.MockLanguageModelV3],
  ["7", "v4", ai7, mocks7.MockLanguageModelV4],
]) {
  const { generateText, jsonSchema, stepCountIs, streamText, tool, wrapLanguageModel } = ai;
  const middleware = callwrightMiddleware({ specificationVersion });
  const limit = (steps) => (stepCountIs ?? ai.isStepCount)(steps);

  /** A model that says these answers one after another, and the last one again and again. */
  const model = (...answers) => {
    let asked = 0;
    const next = () => answers[Math.min(asked++, answers.length - 1)];
    return new Model({
      doGenerate: async () => {
        const { content, finishReason = stop } = next();
        return { content, finishReason, usage, warnings: [] };
      },
      doStream: async () => {
        const { content, finishReason = stop } = next();
        const parts = content.flatMap((part, n) => {
          if (part.type !== "text") return [part];
          const pieces = part.text.match(/[^]{1,3}/gu) ?? [];
          const deltas = pieces.map((delta) => ({ type: "text-delta", id: `t${n}`, delta }));
          return [{ type: "text-start", id: `t${n}` }, ...deltas, { type: "text-end", id: `t${n}` }];
        });
        const stream = ReadableStream.from([{ type: "stream-start", warnings: [] }, ...parts, { type: "finish", finishReason, usage }]);
        return { stream };
      },
    });
  };
  const text = (text) => ({ type: "text", text });
  const call = (input, toolName = "write_file") => ({ type: "tool-call", toolCallId: "c1", toolName, input });
  const done = { content: [text("Done.")] };

  /** Tools of both kinds, and what ran. */
  const tools = (inputSchema) => {
    const ran = [];
    const write_file = tool({
      description: "Writes a file.",
      inputSchema: inputSchema ?? z.object({ path: z.string(), content: z.string() }),
      execute: async (input) => {
        ran.push(input);
        return "written";
      },
    });
    return { ran, tools: { write_file } };
  };

  /** Runs an agent, plain and streamed; returns both. */
  const both = async (answers, { wrapped = true, inputSchema, steps = 3, repair } = {}) => {
    const runs = [];
    for (const isStreamed of [false, true]) {
      const inner = model(...answers);
      const { ran, tools: own } = tools(inputSchema);
      const given = {
        model: wrapped ? wrapLanguageModel({ model: inner, middleware }) : inner,
        tools: own,
        prompt: "Write a file.",
        stopWhen: limit(steps),
        ...(repair ? { experimental_repairToolCall: repair } : {}),
      };
      const result = isStreamed ? streamText({ ...given, onError: () => {} }) : await generateText(given);
      runs.push({
        ran,
        text: await result.text,
        steps: await result.steps,
        prompts: (isStreamed ? inner.doStreamCalls : inner.doGenerateCalls).map(({ prompt }) => JSON.stringify(prompt)),
      });
    }
    return runs;
  };

  // The hook is not told that the answer ended by itself: what may be cut stays an error there.
  for (const [name, [input, whole, value = whole]] of Object.entries(MALFORMED)) {
    test(`ai ${version}: repairToolCall: ${name}`, async () => {
      for (const { ran, prompts } of await both([{ content: [call(input)] }, done], { wrapped: false, repair: repairToolCall })) {
        assert.deepEqual(ran, value === null ? [] : [value]);
        // What does not run is an error that says what to do.
        if (value === null) assert.match(prompts[1], /send it again|too early|end/i);
      }
    });

    test(`ai ${version}: the middleware, native: ${name}`, async () => {
      const finishReason = whole === null ? { unified: "length", raw: "length" } : stop;
      for (const { ran } of await both([{ content: [call(input)], finishReason }, done])) {
        assert.deepEqual(ran, whole === null ? [] : [whole]);
      }
    });
  }

  for (const [dialect, written] of Object.entries(DIALECTS)) {
    test(`ai ${version}: the middleware reads ${dialect}`, async () => {
      for (const { ran, text: last, steps } of await both([{ content: [text(written)] }, done])) {
        assert.deepEqual(ran, [{ path: "a.txt", content: "x" }]);
        assert.equal(last, "Done.");
        assert.equal(steps[0].text, "");
        assert.equal(steps[0].finishReason, "tool-calls");
      }
    });
  }

  test(`ai ${version}: words beside a call stay, and so does an answer without one`, async () => {
    const answers = [{ content: [text(`I write it.\n${DIALECTS.hermes}`)] }, { content: [text("All is written 😀.")] }];
    for (const { ran, steps } of await both(answers)) {
      assert.equal(ran.length, 1);
      assert.equal(steps[0].text.trimEnd(), "I write it.");
      assert.equal(steps[1].text, "All is written 😀.");
    }
  });

  test(`ai ${version}: what was cut runs neither as text nor as a call`, async () => {
    const finishReason = { unified: "length", raw: "length" };
    const cut = '<tool_call>{"name": "write_file", "arguments": {"path": "a.txt", "content": "rm -r';
    for (const content of [[text(cut)], [call('{"path": "a.txt", "content": "rm -r')]]) {
      for (const { ran } of await both([{ content, finishReason }, done])) assert.deepEqual(ran, []);
    }
  });

  test(`ai ${version}: tools without a validator are held to their schema`, async () => {
    const inputSchema = jsonSchema({ type: "object", properties: { path: { type: "string" } }, required: ["path"] });
    for (const { ran, prompts } of await both([{ content: [call('{"path": 5}')] }, done], { inputSchema })) {
      assert.deepEqual(ran, [{ path: "5" }]);
      assert.equal(prompts.length, 2);
    }
    for (const { ran, prompts } of await both([{ content: [call('{"path": ["a"]}')] }, done], { inputSchema })) {
      assert.deepEqual(ran, []);
      assert.match(prompts[1], /must be a string/);
    }
  });

  test(`ai ${version}: what the middleware refused is not repaired into something that runs`, async () => {
    // A schema that the refusal itself would fit.
    const inputSchema = jsonSchema({ type: "object", properties: { path: { type: "string" } } });
    const answers = [{ content: [call('{"path": ["a"]}')] }, done];
    for (const { ran, prompts } of await both(answers, { inputSchema, repair: repairToolCall })) {
      assert.deepEqual(ran, []);
      assert.match(prompts[1], /must be a string/);
    }
  });

  test(`ai ${version}: an unknown name is told of the nearest one, and runs nothing`, async () => {
    for (const wrapped of [true, false]) {
      const answers = [{ content: [call('{"path": "a.txt", "content": "x"}', "write_fil")] }, done];
      for (const { ran, prompts } of await both(answers, { wrapped, repair: repairToolCall })) {
        assert.deepEqual(ran, []);
        assert.match(prompts[1], /write_file/);
      }
    }
  });

  test(`ai ${version}: a stubborn model runs nothing, and ends where the caller says`, async () => {
    const answers = [{ content: [text('<tool_call>{"name": "write_file", "arguments": {"path": ["a.txt"]}}</tool_call>')] }];
    for (const { ran, prompts } of await both(answers, { steps: 4 })) {
      assert.deepEqual(ran, []);
      assert.equal(prompts.length, 4);
    }
  });

  const UNSURE = `Sure.\n${DIALECTS.hermes}\nDone!`;

  test(`ai ${version}: a call in the middle of prose is asked about once, and runs if it is made`, async () => {
    for (const { ran, steps } of await both([{ content: [text(UNSURE)] }, { content: [text(DIALECTS.hermes)] }, done])) {
      assert.deepEqual(ran, [{ path: "a.txt", content: "x" }]);
      assert.equal(steps[0].finishReason, "tool-calls");
      // Both answers were paid.
      assert.equal(steps[0].usage.inputTokens, 2);
    }
  });

  test(`ai ${version}: what was only shown, or is shown again, is text`, async () => {
    for (const second of ["I only showed it.", UNSURE]) {
      const inner = [{ content: [text(UNSURE)] }, { content: [text(second)] }];
      for (const { ran, steps } of await both(inner)) {
        assert.deepEqual(ran, []);
        assert.equal(steps.length, 1);
        assert.equal(steps[0].text, UNSURE);
      }
    }
  });

  test(`ai ${version}: where a dialect was asked for, what parse calls a call is one; nobody is asked where the policy says so`, async () => {
    for (const [options, expected] of [[{ asked: "hermes" }, 1], [{ nativeMode: false }, 1], [{ policy: "strict" }, 0]]) {
      const inner = model({ content: [text(UNSURE)] }, done);
      const { ran, tools: own } = tools();
      const wrapped = wrapLanguageModel({ model: inner, middleware: callwrightMiddleware({ specificationVersion, ...options }) });
      await generateText({ model: wrapped, tools: own, prompt: "x", stopWhen: limit(3) });
      assert.equal(ran.length, expected, JSON.stringify(options));
      assert.equal(inner.doGenerateCalls.length, 1 + expected);
    }
  });

  const { Output, generateObject } = ai;
  const BROKEN = "```json\n{'n': '5', \"s\": \"say \"hi\" now\",}\n```";
  const schema = z.object({ n: z.number(), s: z.string() });
  const VALUE = { n: 5, s: 'say "hi" now' };

  for (const withTools of [false, true]) {
    test(`ai ${version}: structured output is repaired, ${withTools ? "with" : "without"} tools`, async () => {
      for (const live of [false, true]) {
        const wrapped = wrapLanguageModel({
          model: model({ content: [text(BROKEN)] }),
          middleware: callwrightMiddleware({ specificationVersion, live }),
        });
        const given = { model: wrapped, prompt: "x", output: Output.object({ schema }), ...(withTools ? { tools: tools().tools } : {}) };
        assert.deepEqual((await generateText(given)).output, VALUE);
        assert.deepEqual(await streamText({ ...given, onError: () => {} }).output, VALUE);
      }
    });
  }

  test(`ai ${version}: structured output that was cut stays an error`, async () => {
    const cut = { content: [text('{"n": 5, "s": "hel')], finishReason: { unified: "length", raw: "length" } };
    const given = { model: wrapLanguageModel({ model: model(cut), middleware }), prompt: "x", output: Output.object({ schema }) };
    await assert.rejects(async () => (await generateText(given)).output, { name: /NoObject|NoOutput/ });
  });

  test(`ai ${version}: live, structured output goes out while it is strict, and nothing is taken back`, async () => {
    for (const written of ['{"n": 5, "s": "say "hi" now"}', '{"n": 5, "s": "say \\"hi\\" now",}', '{"n": 5, "s": "say \\"hi\\" now"}']) {
      const wrapped = wrapLanguageModel({
        model: model({ content: [text(written)] }),
        middleware: callwrightMiddleware({ specificationVersion, live: true }),
      });
      const { partialOutputStream, output } = streamText({ model: wrapped, prompt: "x", output: Output.object({ schema }) });
      const parts = [];
      for await (const part of partialOutputStream) parts.push(part);
      assert.deepEqual(await output, VALUE);
      assert.ok(2 < parts.length, JSON.stringify(parts));
    }
    // The type is not the schema's: what was said stands, and the SDK says what is wrong.
    const wrapped = wrapLanguageModel({
      model: model({ content: [text('{"n": "5", "s": "x"}')] }),
      middleware: callwrightMiddleware({ specificationVersion, live: true }),
    });
    const result = streamText({ model: wrapped, prompt: "x", output: Output.object({ schema }), onError: () => {} });
    await assert.rejects(async () => result.output);
  });

  test(`ai ${version}: repairText puts right what has one reading, and closes nothing`, async () => {
    const repair = generateObject && { [version === "6" ? "experimental_repairText" : "repairText"]: repairText };
    const given = { prompt: "x", schema: z.object({ n: z.number() }), ...repair };
    const { object } = await generateObject({ ...given, model: model({ content: [text("```json\n{'n': 5,}\n```")] }) });
    assert.deepEqual(object, { n: 5 });
    assert.equal(await repairText({ text: '{"n": 5' }), null);
    assert.equal(await repairText({ text: '{"n": 5}' }), null);
  });
}
