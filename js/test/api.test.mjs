// What the package offers, in the light and in the full build.
import assert from "node:assert/strict";
import { test } from "node:test";

import { jsonSchema } from "ai";
import { z } from "zod";

import * as light from "callwright";
import * as full from "callwright/full";
import * as inline from "callwright/inline";

const WEATHER = [
  { name: "get_weather", parameters: { type: "object", properties: { city: { type: "string" }, days: { type: "integer" } } } },
];

for (const [name, { heal, loads, parse, partial, isCut, RefusedError, Scanner, Schema, ToolSet }] of Object.entries({ light, full, inline })) {
  test(`${name}: a text is healed, and its places are UTF-16 units`, () => {
    const healed = heal("{'ü😀': 1,}");
    assert.equal(healed.text, '{"ü😀": 1}');
    assert.deepEqual(healed.value, { "ü😀": 1 });
    assert.equal(healed.repairClass, "R1");
    const source = "{'ü😀': 1,}";
    for (const { start, end, before } of healed.repairs) assert.equal(source.slice(start, end), before);
    assert.ok(healed.repairs.some(({ kind, start }) => kind === "drop-comma" || start === source.indexOf(",")));
  });

  test(`${name}: what is right stays as it is`, () => {
    for (const text of ['{"a": [1, 2.50, "\\u00fc"]}', '"\\ud800"', "1e400", '{"a": "\ud800"}']) {
      assert.equal(heal(text).text, text);
      assert.deepEqual(heal(text).repairs, []);
    }
  });

  test(`${name}: a number that JavaScript has not is refused`, () => {
    for (const number of ["1e400", "-1e400", "9".repeat(400), "1E+0400"]) {
      const text = `{"a": [${number}]}`;
      const isNumber = (error) => error instanceof RefusedError && error.code === "number" && error.feedback !== "";
      assert.throws(() => loads(text), isNumber);
      // The text has it.
      assert.equal(heal(text).text, text);
      assert.throws(() => heal(text).value, isNumber);
    }
    for (const text of ['{"a": 1e308, "b": "1e400"}', "1e-400", "9".repeat(300)]) {
      assert.deepEqual(loads(text), JSON.parse(text));
    }
  });

  test(`${name}: integers that a number would round, as BigInt where they are asked for`, () => {
    const text = '{"a": 9007199254740993, "b": 5, "c": "9007199254740993\\"", "d": [1.5, -12345678901234567890], "__proto__": {"e": 9007199254740993}}';
    assert.equal(loads(text).a, 9007199254740992);
    const value = loads(text, undefined, { bigint: "auto" });
    assert.deepEqual([value.a, value.b, value.c, value.d], [9007199254740993n, 5, '9007199254740993"', [1.5, -12345678901234567890n]]);
    assert.deepEqual(Object.getOwnPropertyDescriptor(value, "__proto__").value, { e: 9007199254740993n });
    assert.deepEqual(loads("[1, 2.5, 1e3, true, null]", undefined, { bigint: true }), [1n, 2.5, 1000, true, null]);
    // A text becomes what its schema says first.
    assert.deepEqual(loads('["9007199254740993"]', { items: { type: "integer" } }, { bigint: "auto" }), [9007199254740993n]);
    assert.equal(loads("9".repeat(400), undefined, { bigint: "auto" }), BigInt("9".repeat(400)));
    assert.throws(() => loads("1", undefined, { bigint: "all" }), { name: "TypeError", message: /bigint/ });
  });

  test(`${name}: a reviver works as that of JSON.parse`, () => {
    const text = '{"a": 1, "b": [2, {"c": null}], "d": {"__proto__": 4}}';
    for (const reviver of [
      (key, value) => (typeof value === "number" ? value * 2 : value),
      (key, value) => (key === "a" || key === "0" ? undefined : value),
      function (key, value) {
        return Array.isArray(this) ? [key, value] : value;
      },
    ]) {
      assert.deepEqual(loads(text, undefined, { reviver }), JSON.parse(text, reviver));
    }
    assert.throws(() => loads("1", undefined, { reviver: 5 }), TypeError);
  });

  test(`${name}: what is certain of a text while it is written`, () => {
    const schema = { properties: { city: { type: "string" }, days: { type: "integer" } } };
    const text = '```json\n{"city": "Paris", "days": "3", "note": ';
    assert.deepEqual(partial(text, schema), { value: { city: "Paris" }, complete: ["/city"] });
    assert.deepEqual(partial("", schema), { value: undefined, complete: [] });
    assert.deepEqual(partial("{'city': 'Paris', days: '3',}", schema, { finishReason: "stop" }), { value: { city: "Paris", days: 3 }, complete: [""] });
    assert.throws(() => partial(5), TypeError);
  });

  test(`${name}: a schema gives the types, and refuses with feedback`, () => {
    const schema = { properties: { days: { type: "integer" } } };
    assert.deepEqual(loads('{"days": "3"}', schema), { days: 3 });
    assert.deepEqual(heal('{"days": "3"}', new Schema(schema)).coercions, [{ pointer: "/days", before: '"3"', after: "3" }]);
    assert.throws(
      () => loads('{"days": "many"}', schema),
      (error) => error instanceof RefusedError && error.code === "invalid" && error.violations[0].pointer === "/days" && error.feedback !== "",
    );
  });

  test(`${name}: a schema of another library is held against the text`, () => {
    const days = { type: "object", properties: { days: { type: "integer" } }, required: ["days"] };
    for (const schema of [z.object({ days: z.int() }), jsonSchema(days)]) {
      assert.deepEqual(loads('{"days": "3"}', schema), { days: 3 });
      assert.throws(() => loads('{"days": "many"}', new Schema(schema)), RefusedError);
      const wrapped = { tools: [{ name: "f", inputSchema: schema }] };
      for (const tools of [[{ name: "f", parameters: schema }], [{ type: "function", function: { name: "f", parameters: schema } }], wrapped]) {
        const native = [{ name: "f", arguments: '{"days": "many"}' }];
        assert.deepEqual(parse("", tools, { native }).refusals.map(({ code }) => code), ["invalid"]);
      }
    }
    // A value in a schema may have a member of any name.
    const schema = { type: "object", properties: { a: { default: { parameters: [1] }, enum: [{ inputSchema: [] }] } } };
    assert.deepEqual(new ToolSet([{ name: "f", parameters: schema }]).names, ["f"]);
    class Model {}
    const old = { "~standard": { version: 1, vendor: "old", validate: () => ({ value: 1 }) } };
    for (const schema of [new Model(), Model, new Map(), [], old]) {
      assert.throws(() => new Schema(schema), TypeError);
      assert.throws(() => loads("{}", schema), TypeError);
      assert.throws(() => new ToolSet([{ name: "f", parameters: schema }]), TypeError);
    }
  });

  test(`${name}: what was freed says so, and may be freed again`, () => {
    for (const [kept, use] of [
      [new ToolSet(WEATHER), (kept) => kept.names],
      [new Schema(true), (kept) => heal("{}", kept)],
      [new Scanner(WEATHER), (kept) => kept.feed("x")],
    ]) {
      kept.free();
      kept.free();
      assert.throws(() => use(kept), { name: "TypeError", message: "this was freed" });
    }
  });

  test(`${name}: what is not a text is a mistake of the caller`, () => {
    for (const text of [undefined, null, 5, {}]) {
      assert.throws(() => loads(text), { name: "TypeError", message: /a text is expected/ });
      assert.throws(() => parse(text, WEATHER), { name: "TypeError", message: /a text is expected/ });
    }
  });

  test(`${name}: what was cut is refused, with its place`, () => {
    const error = (() => {
      try {
        loads('{"ü😀": "of');
      } catch (error) {
        return error;
      }
    })();
    assert.equal(error.name, "RefusedError");
    assert.equal(error.code, "truncated");
    assert.ok(error.partial.complete.length === 0);
    assert.deepEqual(error.position, { offset: 8, line: 1, column: 9 });
    assert.throws(() => loads('{"a": 1', undefined, { finishReason: "length" }), RefusedError);
    assert.throws(() => loads("[".repeat(200)), { code: "too-long" });
    assert.ok(isCut("length") && !isCut("stop") && !isCut(undefined));
  });

  test(`${name}: an answer comes to calls and refusals`, () => {
    const text = "Süß 😀. <tool_call>{'name': 'get_weather', 'arguments': {'city': 'Paris', 'days': '3'}}</tool_call>";
    const outcome = parse(text, WEATHER);
    assert.equal(outcome.text, "Süß 😀.");
    const [call] = outcome.calls;
    assert.deepEqual([call.name, call.arguments], ["get_weather", { city: "Paris", days: 3 }]);
    assert.equal(text.slice(call.start, call.end).startsWith("<tool_call>"), true);
    assert.ok(call.repairs.length !== 0);
    for (const { start, end, before } of call.repairs) assert.equal(text.slice(start, end), before);
    assert.deepEqual(call.coercions, [{ pointer: "/days", before: '"3"', after: "3" }]);
    const { repairs, coercions } = JSON.parse(JSON.stringify(call));
    assert.deepEqual([repairs, coercions], [call.repairs, call.coercions]);
    const [refusal] = parse('<tool_call>{"name": "get_wether", "arguments": {}}</tool_call>', WEATHER).refusals;
    assert.deepEqual([refusal.code, refusal.nearest], ["unknown-tool", ["get_weather"]]);
  });

  test(`${name}: native calls go in as their clients have them`, () => {
    const calls = [
      { id: "1", name: "get_weather", arguments: '{"city": "Paris",}' },
      { id: "2", function: { name: "get_weather", arguments: { city: "Rome" } } },
    ];
    const outcome = parse("", WEATHER, { native: calls, finishReason: "tool_calls" });
    assert.deepEqual(outcome.calls.map(({ id, argumentsJson }) => [id, argumentsJson]), [
      ["1", '{"city": "Paris"}'],
      ["2", '{"city":"Rome"}'],
    ]);
    assert.deepEqual(outcome.calls.map(({ repairs }) => repairs.map(({ kind }) => kind)), [["drop-comma"], []]);
    assert.equal(parse("", WEATHER, { native: [{ name: "get_weather", arguments: '{"city": "Par' }], finishReason: "length" }).refusals[0].code, "truncated");
  });

  test(`${name}: a stream comes to the same, however it is cut, through pairs of units too`, () => {
    const text = "Well 😀. <tool_call>{'name': 'get_weather', 'arguments': {'city': '😀'}}</tool_call>";
    const scanner = new Scanner(WEATHER);
    const events = [...text.split("").flatMap((unit) => scanner.feed(unit)), ...scanner.finish()];
    const said = events.filter(({ kind }) => kind === "text-delta").map(({ text }) => text).join("");
    assert.equal(said.trimEnd(), "Well 😀.");
    const [call] = events.filter(({ kind }) => kind === "call");
    assert.deepEqual(call.arguments, { city: "😀" });
    for (const { start, end, before } of call.repairs) assert.equal(text.slice(start, end), before);
    assert.equal(scanner.outcome.report(), parse(text, WEATHER).report());
    assert.throws(() => scanner.feed("more"), TypeError);
  });

  test(`${name}: what is certain of a call while it is written`, () => {
    const scanner = new Scanner(WEATHER);
    assert.equal(scanner.partial(), null);
    scanner.feed('<tool_call>{"name": "get_weather", "arguments": {"city": "Paris", "days": ');
    const call = scanner.partial();
    assert.deepEqual(call, { id: null, name: "get_weather", arguments: { value: { city: "Paris" }, complete: ["/city"] } });
    scanner.feed('"3"}}</tool_call>');
    assert.equal(scanner.partial(), null);
  });

  test(`${name}: a stream of pieces becomes one of events`, async () => {
    const pieces = ReadableStream.from(["Well. <tool_", "call>{'name': 'get_weather', 'arguments': {}}", "</tool_call>"]);
    const kinds = [];
    for await (const event of pieces.pipeThrough(new Scanner(WEATHER).stream())) kinds.push(event.kind);
    assert.deepEqual(kinds.filter((kind) => kind !== "text-delta"), ["call"]);
  });

  test(`${name}: live, arguments of native calls go out before their verdict`, () => {
    const scanner = new Scanner(WEATHER, { live: true });
    const pieces = [{ index: 0, name: "get_weather", arguments: '{"city": "Par' }, { index: 0, arguments: 'is"}' }];
    const events = [...pieces.flatMap((piece) => [...scanner.feedCall(piece)]), ...scanner.finish()];
    assert.deepEqual(new Set(events.map(({ kind }) => kind)), new Set(["call-started", "arguments-delta", "call"]));
    const sent = events.filter(({ kind }) => kind === "arguments-delta").map(({ text }) => text).join("");
    assert.ok(0 < sent.length && events.find(({ kind }) => kind === "call").argumentsJson.startsWith(sent));
  });

  test(`${name}: a caller's mistake is a TypeError that says what`, () => {
    assert.throws(() => new ToolSet("[{"), { name: "TypeError", message: /not JSON/ });
    assert.throws(() => new Schema("7"), { name: "TypeError", message: /neither an object/ });
    assert.throws(() => parse("", WEATHER, { policy: "never" }), { name: "TypeError", message: /no policy/ });
    assert.throws(() => parse("", WEATHER, { polcy: "auto" }), { name: "TypeError", message: /unknown field/ });
    assert.throws(() => parse("", WEATHER, { only: "none" }), { name: "TypeError", message: /no dialect/ });
  });
}

test("only the full build holds values to all of JSON Schema, and the light one says so", () => {
  const schema = { properties: { id: { type: "string", pattern: "^[a-z]+$" } } };
  assert.equal(new light.Schema(schema).isFullyChecked, false);
  assert.equal(new full.Schema(schema).isFullyChecked, true);
  assert.equal(light.loads('{"id": "7"}', schema).id, "7");
  assert.throws(() => full.loads('{"id": "7"}', schema), { code: "invalid" });
});

test("ten thousand calls leave no more memory than one thousand", () => {
  const call = (n) => light.parse(`<tool_call>{'name': 'get_weather', 'arguments': {'city': '${n}'}}</tool_call>`, WEATHER);
  for (let n = 0; n < 1000; n += 1) call(n);
  const before = light.memory();
  for (let n = 0; n < 10_000; n += 1) call(n);
  assert.equal(light.memory(), before);
});
