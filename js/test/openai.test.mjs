// The client of OpenAI over a server that says what a model might.
import assert from "node:assert/strict";
import { test } from "node:test";

import OpenAI, { AzureOpenAI } from "openai";
import { zodResponseFormat } from "openai/helpers/zod";
import { z } from "zod";

import { RefusedError } from "callwright";
import { wrapOpenAI } from "callwright/openai";

import { scripted } from "./server.mjs";

const parameters = { type: "object", properties: { path: { type: "string" }, n: { type: "integer" } }, required: ["path"] };
const tools = [{ type: "function", function: { name: "write", parameters } }];
const messages = [{ role: "user", content: "Write." }];
const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };

const native = (text, id = "c1") => ({ id, type: "function", function: { name: "write", arguments: text } });
const answer = (message, finish_reason = "stop") => ({
  id: "1", object: "chat.completion", created: 1, model: "m", usage,
  choices: [{ index: 0, message: { role: "assistant", content: null, ...message }, finish_reason, logprobs: null }],
});

/** The same answer as chunks, in small pieces. */
const chunksOf = ({ choices: [{ message, finish_reason }], ...rest }) => {
  const chunk = (delta, reason = null) => ({
    ...rest, usage: null, object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason: reason }],
  });
  const pieces = (text) => text?.match(/[^]{1,4}/g) ?? [];
  return [
    chunk({ role: "assistant", content: "" }),
    ...pieces(message.content).map((content) => chunk({ content })),
    ...(message.tool_calls ?? []).flatMap((call, index) => [
      chunk({ tool_calls: [{ ...call, index, function: { ...call.function, arguments: "" } }] }),
      ...pieces(call.function.arguments).map((piece) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })),
    ]),
    chunk({}, finish_reason),
    { ...chunk({}), choices: [], usage },
  ];
};

/** What a client gives for these answers, whole and streamed, with what was asked. */
const both = async (answers, check, { maxCorrections, ...request } = {}) => {
  for (const isStreamed of [false, true]) {
    await scripted(isStreamed ? answers.map(chunksOf) : answers, async (url, asked) => {
      const client = wrapOpenAI(new OpenAI({ apiKey: "k", baseURL: url }), { maxCorrections });
      const body = { model: "m", messages, tools, ...request };
      const run = async () => {
        if (!isStreamed) return client.chat.completions.create(body);
        return client.chat.completions.stream({ ...body, stream_options: { include_usage: true } }).finalChatCompletion();
      };
      await check(run, asked, isStreamed);
    });
  }
};

const TEXT_CALL = '<tool_call>{"name": "write", "arguments": {"path": "a", "n": "5"}}</tool_call>';
const seen = ({ choices: [{ message, finish_reason }], usage }) => ({
  calls: (message.tool_calls ?? []).map(({ id, function: { name, arguments: text } }) => [id, name, JSON.parse(text)]),
  text: message.content,
  finish_reason,
  tokens: usage?.total_tokens,
});

test("a native call is repaired, and keeps its id", () =>
  both([answer({ tool_calls: [native("{'path': 'a', n: '5',}")] }, "tool_calls")], async (run, asked) => {
    const { calls, finish_reason, tokens } = seen(await run());
    assert.deepEqual([calls, finish_reason, tokens], [[["c1", "write", { path: "a", n: 5 }]], "tool_calls", 2]);
    assert.equal(asked.length, 1);
  }));

test("a call in the text is one, and words beside it stay", () =>
  both([answer({ content: `I write.\n${TEXT_CALL}` })], async (run) => {
    const { calls: [[id, ...call]], text, finish_reason } = seen(await run());
    assert.match(id, /^call_/);
    assert.deepEqual([call, text.trim(), finish_reason], [["write", { path: "a", n: 5 }], "I write.", "tool_calls"]);
  }));

test("what is refused is told to the model, by the id of the call", () =>
  both(
    [
      answer({ tool_calls: [native('{"path": ["a"]}'), native('{"path": "b"}', "c2")] }, "tool_calls"),
      answer({ tool_calls: [native('{"path": "a"}', "c3")] }, "tool_calls"),
    ],
    async (run, asked) => {
      const { calls, tokens } = seen(await run());
      assert.deepEqual([calls, tokens], [[["c3", "write", { path: "a" }]], 4]);
      const [, said, ...told] = asked[1].messages;
      assert.deepEqual(said.tool_calls.map(({ function: { arguments: text } }) => JSON.parse(text)), [{ path: ["a"] }, { path: "b" }]);
      assert.deepEqual(told.map(({ role, tool_call_id }) => [role, tool_call_id]), [["tool", "c1"], ["tool", "c2"]]);
      assert.match(told[0].content, /must be a string/);
      assert.match(told[1].content, /Not run/);
    },
  ));

test("arguments that no server could read are JSON in the history; a refusal in the text is told by the user", async () => {
  await both([answer({ tool_calls: [native('{"path": "a')] }, "length"), answer({ content: "No." })], async (run, asked) => {
    assert.equal(seen(await run()).text, "No.");
    assert.deepEqual(JSON.parse(asked[1].messages[1].tool_calls[0].function.arguments), { unreadable_arguments: '{"path": "a' });
  });
  const wrong = answer({ content: '<tool_call>{"name": "write", "arguments": {"path": ["a"]}}</tool_call>' });
  await both([wrong, answer({ content: TEXT_CALL })], async (run, asked) => {
    assert.equal(seen(await run()).calls.length, 1);
    assert.deepEqual(asked[1].messages.map(({ role }) => role), ["user", "assistant", "user"]);
    assert.equal(asked[1].messages[1].content, wrong.choices[0].message.content);
  });
});

test("a call in the middle of prose is asked about; what was only shown stays the answer", async () => {
  const unsure = `Sure.\n${TEXT_CALL}\nDone!`;
  await both([answer({ content: unsure }), answer({ content: TEXT_CALL })], async (run, asked) => {
    assert.equal(seen(await run()).calls.length, 1);
    assert.match(asked[1].messages.at(-1).content, /send it alone/);
  });
  await both([answer({ content: unsure }), answer({ content: "I only showed it." })], async (run) => {
    const { calls, text } = seen(await run());
    assert.deepEqual([calls, text], [[], unsure]);
  });
});

test("what servers tell with each chunk about its cost is not added up", () =>
  scripted([chunksOf(answer({ content: "Hi there, you." })).slice(0, -1).map((chunk, n) => ({ ...chunk, usage: { ...usage, total_tokens: n } }))], async (url) => {
    const client = wrapOpenAI(new OpenAI({ apiKey: "k", baseURL: url }));
    const told = [];
    for await (const chunk of await client.chat.completions.create({ model: "m", messages, tools, stream: true })) told.push(chunk.usage);
    assert.equal(told.filter(Boolean).length, 1);
    assert.equal(told.at(-1).total_tokens, 5);
  }));

test("a stubborn model ends in an error that says why, after as many questions as were allowed", async () => {
  for (const [maxCorrections, times] of [[undefined, 3], [0, 1], [1, 2]]) {
    const wrong = answer({ tool_calls: [native('{"path": ["a"]}')] }, "tool_calls");
    await both(
      [wrong],
      async (run, asked) => {
        // `.stream` makes an error of its own of what it is given.
        await assert.rejects(run, (error) => (error.cause ?? error) instanceof RefusedError && /must be a string/.test(error.message));
        assert.equal(asked.length, times);
      },
      { maxCorrections },
    );
  }
});

test("a response format is held to its schema, whole", () =>
  scripted([answer({ content: '```json\n{"n": "many"}\n```' }), answer({ content: "```json\n{'n': '5',}\n```" })], async (url, asked) => {
    const client = wrapOpenAI(new OpenAI({ apiKey: "k", baseURL: url }));
    const response_format = zodResponseFormat(z.object({ n: z.number() }), "answer");
    const { choices: [{ message }] } = await client.chat.completions.parse({ model: "m", messages, response_format });
    assert.deepEqual(message.parsed, { n: 5 });
    assert.equal(asked.length, 2);
  }));

const City = z.object({ name: z.string(), days: z.int() }).refine(({ days }) => days < 10, { message: "at most 9 days", path: ["days"] });

test("a response model gives a value of its type; its own rules are told to the model", async () => {
  const answers = ['{"name": "Paris", "days": "12"}', "{'name': 'Paris', 'days': '5',}"].map((content) => answer({ content }));
  await scripted(answers, async (url, asked) => {
    const client = wrapOpenAI(new OpenAI({ apiKey: "k", baseURL: url }));
    const city = await client.chat.completions.create({ model: "m", messages, responseModel: City });
    assert.deepEqual(city, { name: "Paris", days: 5 });
    assert.match(asked[1].messages.at(-1).content, /at most 9 days/);
    assert.equal(asked[0].response_format.json_schema.schema.properties.days.type, "integer");
    assert.ok(!("responseModel" in asked[0]));
  });
  await scripted([answer({ content: '{"value": ["a", "b"]}' }), answer({ content: "['a']" })], async (url) => {
    const client = wrapOpenAI(new OpenAI({ apiKey: "k", baseURL: url }));
    const list = { model: "m", messages, responseModel: z.array(z.string()).transform((all) => all.join()) };
    assert.equal(await client.chat.completions.create(list), "a,b");
    assert.equal(await client.chat.completions.create(list), "a");
  });
  for (const [message, code] of [[{ content: '{"name": "Paris", "days": 12}' }, "invalid"], [{ refusal: "I do not." }, "declined"]]) {
    await scripted([answer(message)], async (url) => {
      const client = wrapOpenAI(new OpenAI({ apiKey: "k", baseURL: url }));
      await assert.rejects(() => client.chat.completions.create({ model: "m", messages, responseModel: City }), { name: "RefusedError", code });
    });
  }
});

test("a streamed response model gives what is certain, and all of it last", () =>
  scripted([chunksOf(answer({ content: "{'name': 'Paris', 'days': '5'}" }))], async (url) => {
    const client = wrapOpenAI(new OpenAI({ apiKey: "k", baseURL: url }));
    const parts = [];
    for await (const part of await client.chat.completions.create({ model: "m", messages, responseModel: City, stream: true })) parts.push(part);
    assert.deepEqual(parts.at(-1), { value: { name: "Paris", days: 5 }, complete: [""] });
    assert.ok(parts.some(({ value, complete }) => value.name === "Paris" && !("days" in value) && complete.includes("/name")));
  }));

test("all else of the client is as it was", () =>
  scripted([answer({ content: "Hi." })], async (url, asked) => {
    const client = new OpenAI({ apiKey: "k", baseURL: url, defaultHeaders: { "x-own": "1" } });
    const wrapped = wrapOpenAI(client);
    assert.ok(wrapped instanceof OpenAI && wrapped !== client);
    assert.ok(wrapOpenAI(new AzureOpenAI({ apiKey: "k", baseURL: url, apiVersion: "1" })) instanceof AzureOpenAI);
    const { data, response, request_id } = await wrapped.chat.completions.create({ model: "m", messages, tools }).withResponse();
    assert.deepEqual([data.choices[0].message.content, response.status, request_id], ["Hi.", 200, "r1"]);
    const plain = await wrapped.chat.completions.create({ model: "m", messages }).withResponse();
    assert.equal(plain.data.choices[0].message.content, "Hi.");
    assert.equal(wrapped.withOptions({ timeout: 5 }).timeout, 5);
    assert.ok(wrapped.withOptions({}).chat.completions.constructor !== OpenAI.Chat.Completions);
    assert.match(wrapped.buildURL("/x"), /\/x$/);
    assert.equal(asked.length, 2);
    assert.throws(() => wrapOpenAI({}), TypeError);
    assert.throws(() => wrapOpenAI(client, { maxCorrections: -1 }), TypeError);
    assert.throws(() => wrapped.chat.completions.create({ model: "m", messages, tools, responseModel: City }), TypeError);
    assert.throws(() => wrapped.chat.completions.create({ model: "m", messages, tools, stream: true, n: 2 }), TypeError);
  }));

test("runTools runs what was repaired", () =>
  scripted([answer({ tool_calls: [native("{'path': 'a',}")] }, "tool_calls"), answer({ content: "Done." })], async (url) => {
    const client = wrapOpenAI(new OpenAI({ apiKey: "k", baseURL: url }));
    const ran = [];
    const write = { function: (given) => (ran.push(given), "written"), parse: JSON.parse, name: "write", description: "Writes.", parameters };
    const runner = client.chat.completions.runTools({ model: "m", messages, tools: [{ type: "function", function: write }] });
    assert.equal(await runner.finalContent(), "Done.");
    assert.deepEqual(ran, [{ path: "a" }]);
  }));
