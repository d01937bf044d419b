// The client of Anthropic over a server that says what a model might.
import assert from "node:assert/strict";
import { test } from "node:test";

import Anthropic from "@anthropic-ai/sdk";
import { z } from "zod";

import { RefusedError } from "callwright";
import { wrapAnthropic } from "callwright/anthropic";

import { scripted } from "./server.mjs";

const input_schema = { type: "object", properties: { path: { type: "string" }, n: { type: "integer" } }, required: ["path"] };
const tools = [{ name: "write", input_schema }];
const messages = [{ role: "user", content: "Write." }];
const usage = { input_tokens: 1, output_tokens: 1 };

const text = (text) => ({ type: "text", text });
const use = (input, id = "t1") => ({ type: "tool_use", id, name: "write", input });
const answer = (content, stop_reason = "end_turn") => ({
  id: "m", type: "message", role: "assistant", model: "m", content, stop_reason, stop_sequence: null, usage,
});

/** The same answer as events, in small pieces. The input of a call may be a text, as a model wrote it. */
const eventsOf = ({ content, stop_reason, ...message }) => [
  { type: "message_start", message: { ...message, content: [], stop_reason: null } },
  ...content.flatMap((block, index) => {
    const signed = block.signature ? [{ type: "content_block_delta", index, delta: { type: "signature_delta", signature: block.signature } }] : [];
    const kind = { text: "text_delta", thinking: "thinking_delta", tool_use: "input_json_delta" }[block.type];
    const key = { text: "text", thinking: "thinking", tool_use: "partial_json" }[block.type];
    const whole = block.type === "tool_use" ? JSON.stringify(block.input) : block[block.type];
    const empty = block.type === "tool_use" ? { ...block, input: {} } : { ...block, [block.type]: "" };
    const pieces = (block.raw ?? whole).match(/[^]{1,5}/g) ?? [];
    return [
      { type: "content_block_start", index, content_block: empty },
      ...pieces.map((piece) => ({ type: "content_block_delta", index, delta: { type: kind, [key]: piece } })),
      ...signed,
      { type: "content_block_stop", index },
    ];
  }),
  { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 1 } },
  { type: "message_stop" },
];

const both = async (answers, check, { maxCorrections } = {}) => {
  for (const isStreamed of [false, true]) {
    await scripted(isStreamed ? answers.map(eventsOf) : answers, async (url, asked) => {
      const client = wrapAnthropic(new Anthropic({ apiKey: "k", baseURL: url }), { maxCorrections });
      const body = { model: "m", max_tokens: 100, messages, tools };
      await check(() => (isStreamed ? client.messages.stream(body).finalMessage() : client.messages.create(body)), asked);
    });
  }
};

const TEXT_CALL = '<tool_call>{"name": "write", "arguments": {"path": "a", "n": "5"}}</tool_call>';
const seen = ({ content, stop_reason, usage }) => ({
  kinds: content.map(({ type }) => type),
  uses: content.flatMap((block) => (block.type === "tool_use" ? [[block.id, block.name, block.input]] : [])),
  text: content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join(""),
  stop_reason,
  tokens: usage.output_tokens,
});

test("a call's arguments get their types, and other blocks stay", () =>
  both([answer([{ type: "thinking", thinking: "Hm.", signature: "s" }, text("I write."), use({ path: "a", n: "5" })], "tool_use")], async (run, asked) => {
    const { kinds, uses, text, stop_reason } = seen(await run());
    assert.deepEqual(kinds, ["thinking", "text", "tool_use"]);
    assert.deepEqual([uses, text, stop_reason], [[["t1", "write", { path: "a", n: 5 }]], "I write.", "tool_use"]);
    assert.equal(asked.length, 1);
  }));

test("broken JSON in a stream is repaired", () =>
  scripted([eventsOf(answer([{ ...use({}), raw: "{'path': 'a', n: '5',}" }], "tool_use"))], async (url) => {
    const client = wrapAnthropic(new Anthropic({ apiKey: "k", baseURL: url }));
    const message = await client.messages.stream({ model: "m", max_tokens: 100, messages, tools }).finalMessage();
    assert.deepEqual(seen(message).uses, [["t1", "write", { path: "a", n: 5 }]]);
  }));

test("a call in the text is one", () =>
  both([answer([text(`I write.\n${TEXT_CALL}`)])], async (run) => {
    const { uses: [[id, ...call]], text, stop_reason } = seen(await run());
    assert.match(id, /^toolu_/);
    assert.deepEqual([call, text.trim(), stop_reason], [["write", { path: "a", n: 5 }], "I write.", "tool_use"]);
  }));

test("what is refused is told to the model, by the id of the call", () =>
  both([answer([use({ path: ["a"] }), use({ path: "b" }, "t2")], "tool_use"), answer([use({ path: "a" }, "t3")], "tool_use")], async (run, asked) => {
    const { uses, tokens } = seen(await run());
    assert.deepEqual([uses, tokens], [[["t3", "write", { path: "a" }]], 2]);
    const [, said, { content: told }] = asked[1].messages;
    assert.deepEqual(said.content.map(({ input }) => input), [{ path: ["a"] }, { path: "b" }]);
    assert.deepEqual(told.map(({ tool_use_id }) => tool_use_id), ["t1", "t2"]);
    assert.match(told[0].content, /must be a string/);
    assert.match(told[1].content, /Not run/);
  }));

test("thoughts stand in the history as they came, with their signature", () =>
  both(
    [answer([{ type: "thinking", thinking: "A long thought.", signature: "s" }, use({ path: ["a"] })], "tool_use"), answer([use({ path: "a" })], "tool_use")],
    async (run, asked) => {
      await run();
      assert.deepEqual(asked[1].messages[1].content[0], { type: "thinking", thinking: "A long thought.", signature: "s" });
    },
  ));

test("a call in the middle of prose is asked about; what was only shown stays the answer", async () => {
  const unsure = `Sure.\n${TEXT_CALL}\nDone!`;
  await both([answer([text(unsure)]), answer([text(TEXT_CALL)])], async (run, asked) => {
    assert.equal(seen(await run()).uses.length, 1);
    assert.match(asked[1].messages.at(-1).content[0].text, /send it alone/);
  });
  await both([answer([text(unsure)]), answer([text("I only showed it.")])], async (run) => {
    const { uses, text } = seen(await run());
    assert.deepEqual([uses, text], [[], unsure]);
  });
});

test("a stubborn model ends in an error that says why", async () => {
  for (const [maxCorrections, times] of [[undefined, 3], [0, 1]]) {
    await both(
      [answer([use({ path: ["a"] })], "tool_use")],
      async (run, asked) => {
        await assert.rejects(run, (error) => (error.cause ?? error) instanceof RefusedError && /must be a string/.test(error.message));
        assert.equal(asked.length, times);
      },
      { maxCorrections },
    );
  }
});

const City = z.object({ name: z.string(), days: z.int() }).refine(({ days }) => days < 10, { message: "at most 9 days" });

test("a response model gives a value of its type; its own rules are told to the model", () =>
  scripted([answer([text('{"name": "Paris", "days": "12"}')]), answer([text("{'name': 'Paris', 'days': '5',}")])], async (url, asked) => {
    const client = wrapAnthropic(new Anthropic({ apiKey: "k", baseURL: url }));
    const city = await client.messages.create({ model: "m", max_tokens: 100, messages, responseModel: City });
    assert.deepEqual(city, { name: "Paris", days: 5 });
    assert.match(asked[1].messages.at(-1).content, /at most 9 days/);
    assert.equal(asked[0].output_config.format.schema.properties.days.type, "integer");
  }));

test("a streamed response model gives what is certain, and all of it last", () =>
  scripted([eventsOf(answer([text("{'name': 'Paris', 'days': '5'}")]))], async (url) => {
    const client = wrapAnthropic(new Anthropic({ apiKey: "k", baseURL: url }));
    const parts = [];
    const request = { model: "m", max_tokens: 100, messages, responseModel: City, stream: true };
    for await (const part of await client.messages.create(request)) parts.push(part);
    assert.deepEqual(parts.at(-1), { value: { name: "Paris", days: 5 }, complete: [""] });
    assert.ok(parts.some(({ value, complete }) => value.name === "Paris" && !("days" in value) && complete.includes("/name")));
  }));

test("all else of the client is as it was", () =>
  scripted([answer([text("Hi.")])], async (url) => {
    const client = wrapAnthropic(new Anthropic({ apiKey: "k", baseURL: url }));
    assert.ok(client instanceof Anthropic);
    const request = { model: "m", max_tokens: 100, messages };
    for (const given of [request, { ...request, tools }]) {
      const { data, response } = await client.messages.create(given).withResponse();
      assert.deepEqual([data.content[0].text, response.status], ["Hi.", 200]);
    }
    assert.equal(client.withOptions({ timeout: 5 }).timeout, 5);
    assert.throws(() => wrapAnthropic({}), TypeError);
  }));
