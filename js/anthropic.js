// The client of Anthropic: calls in answers are repaired, and the model is asked again about those that cannot be.

import Anthropic from "@anthropic-ai/sdk";
import { Stream } from "@anthropic-ai/sdk/core/streaming";
import { transformJSONSchema } from "@anthropic-ai/sdk/lib/transform-json-schema";

import { Answer, over } from "./client.js";
import { NOT_RUN, confirmation, corrections, errorOf, isWrong, summed } from "./followup.js";
import { RefusedError, Scanner, ToolSet, parse } from "./index.js";
import { ResponseModel } from "./response-model.js";

/** A client like `client`, over the same connections, that repairs what it receives. */
export const wrapAnthropic = (client, { maxCorrections = 2 } = {}) => {
  if (!(client instanceof Anthropic)) throw new TypeError("a client is an Anthropic of the package `@anthropic-ai/sdk`");
  corrections(maxCorrections);
  return over(client, (wrapped) => ({
    messages: new Messages(wrapped, maxCorrections),
    withOptions: (options) => wrapAnthropic(client.withOptions(options), { maxCorrections }),
  }));
};

class Messages extends Anthropic.Messages {
  #left;

  constructor(client, maxCorrections) {
    super(client);
    this.#left = maxCorrections;
  }

  create({ responseModel, ...request }, options) {
    const ask = (next) => super.create(next, options);
    if (responseModel !== undefined) return structured(request, responseModel, this.#left, ask);
    const tools = toolSet(request);
    if (tools === null) return ask(request);
    if (!request.stream) return new Answer(whole(request, tools, this.#left, ask));
    return new Answer(streamed(request, (stream) => events(stream, request, tools, this.#left, ask), ask));
  }
}

/** The tools that are ours to read, which no server runs; `null` where there are none. */
const toolSet = ({ tools, tool_choice }) => {
  const own = (tools ?? []).filter(({ input_schema }) => input_schema);
  return own.length === 0 || tool_choice?.type === "none" ? null : new ToolSet(own);
};

/** Why the model stopped, in the words of those who serve models. */
const reasonOf = (reason) => (reason === "model_context_window_exceeded" ? "length" : (reason ?? "length"));

const newId = () => `toolu_${crypto.randomUUID().replaceAll("-", "").slice(0, 24)}`;

const isText = ({ type }) => type === "text";
const isUse = ({ type }) => type === "tool_use";
const textOf = (content) => content.filter(isText).map(({ text }) => text).join("");

/** The blocks of an answer's calls: those that the server gave in their places, then those of the text. */
const usesOf = (outcome, theirs) => {
  const made = theirs.flatMap((block, place) =>
    outcome.calls
      .filter(({ id }) => id === String(place))
      .map(({ name, arguments: input }, n) => ({ ...block, id: n === 0 && block.id ? block.id : newId(), name, input })),
  );
  const inText = outcome.calls.filter(({ id }) => id === null);
  return [...made, ...inText.map(({ name, arguments: input }) => ({ type: "tool_use", id: newId(), name, input }))];
};

const endedBy = (reason, uses) => (0 < uses.length && reason === "end_turn" ? "tool_use" : reason);

/** What is wrong with calls alone that were only meant to be shown. */
const isQuestion = ({ refusals, calls }) => refusals.length === 0 && calls.length === 0;

/** The request that tells the model what is wrong with its answer; throws where nothing is left. */
const followup = (request, content, outcome, left) => {
  if (left === 0) throw errorOf(outcome);
  const open = new Map(outcome.refusals.map((refusal) => [refusal, refusal.feedback]));
  // Each id wants an answer; a call beside a refused one is not run yet.
  const told = content.filter(isUse).map(({ id }, place) => {
    const refusal = outcome.refusals.find((refusal) => refusal.id === String(place));
    open.delete(refusal);
    return { type: "tool_result", tool_use_id: id, is_error: true, content: refusal?.feedback ?? NOT_RUN };
  });
  const words = [...open.values(), confirmation(outcome)].filter(Boolean);
  if (0 < words.length) told.push({ type: "text", text: words.join("\n\n") });
  // A history may hold no empty text.
  const said = content.filter((block) => !isText(block) || block.text.trim() !== "");
  return { ...request, messages: [...request.messages, { role: "assistant", content: said }, { role: "user", content: told }] };
};

const whole = async (request, tools, most, ask) => {
  const told = await ask(request).withResponse();
  let { data } = told;
  let { usage } = data;
  let attempt = request;
  // What a call that was only shown stands in stays the answer.
  let shown = null;
  for (let left = most; ; left -= 1) {
    const uses = data.content.filter(isUse);
    const native = uses.map(({ name, input }, place) => ({ id: String(place), name, arguments: input }));
    const outcome = parse(textOf(data.content), tools, { native, finishReason: reasonOf(data.stop_reason) });
    if (!isWrong(outcome)) {
      const made = usesOf(outcome, uses);
      if (made.length === 0) return { ...told, data: { ...(shown ?? data), usage } };
      return { ...told, data: { ...repaired(data, outcome, made), usage } };
    }
    shown = isQuestion(outcome) ? (shown ?? data) : null;
    attempt = followup(attempt, data.content, outcome, left);
    data = await ask(attempt);
    usage = summed(usage, data.usage);
  }
};

/** A message with its calls as `uses`; the first block of text holds what is said besides those of the text. */
const repaired = (message, outcome, uses) => {
  const hasInText = outcome.calls.some(({ id }) => id === null);
  const first = message.content.find(isText);
  const content = message.content.flatMap((block) => {
    if (isUse(block)) return [];
    if (!hasInText || !isText(block)) return [block];
    return block === first && outcome.text !== "" ? [{ ...block, text: outcome.text }] : [];
  });
  return { ...message, content: [...content, ...uses], stop_reason: endedBy(message.stop_reason, uses) };
};

/** What `stream: true` gives, over what `made` makes of it. */
const streamed = async (request, made, ask) => {
  const told = await ask(request).withResponse();
  return { ...told, data: new Stream(() => made(told.data), told.data.controller) };
};

/** The events of one turn: text goes out as it is certain, calls where the answer ends and all are right. */
async function* events(stream, request, tools, most, ask) {
  let attempt = request;
  let usage = null;
  let wasQuestion = false;
  let said = "";
  // Blocks are counted anew: those of calls come last.
  let count = -1;
  const begin = (content_block) => ({ type: "content_block_start", index: (count += 1), content_block });
  const delta = (given) => ({ type: "content_block_delta", index: count, delta: given });
  const stop = () => ({ type: "content_block_stop", index: count });
  for (let left = most; ; left -= 1) {
    const isFirst = left === most;
    const scanner = new Scanner(tools, { nativeMode: true });
    const content = [];
    let isOpen = false;
    let held = "";
    let end = null;
    const say = function* (found) {
      const text = found.map(({ kind, text }) => (kind === "text-delta" ? text : "")).join("");
      if (text === "") return;
      // Behind what was said, an answer that makes the calls again says nothing new.
      if (!isFirst) return void (held += text);
      if (!isOpen) yield begin({ type: "text", text: "", citations: null });
      isOpen = true;
      said += text;
      yield delta({ type: "text_delta", text });
    };
    const close = function* () {
      if (isOpen) yield stop();
      isOpen = false;
    };
    for await (const event of stream) {
      const block = content[event.index];
      if (event.type === "content_block_start") {
        content[event.index] = { ...event.content_block, ...("input" in event.content_block ? { json: "" } : {}) };
        if (isText(event.content_block) || isUse(event.content_block)) continue;
        yield* close();
        if (isFirst) yield begin(event.content_block);
      } else if (event.type === "content_block_delta" && isText(block)) {
        if (event.delta.type !== "text_delta") continue;
        block.text += event.delta.text;
        yield* say(scanner.feed(event.delta.text));
      } else if (event.type === "content_block_delta" && isUse(block)) {
        block.json += event.delta.partial_json ?? "";
      } else if (event.type === "content_block_delta") {
        grown(block, event.delta);
        if (isFirst) yield delta(event.delta);
      } else if (event.type === "content_block_stop") {
        if (isFirst && !isText(block) && !isUse(block)) yield stop();
      } else if (event.type === "message_delta") {
        usage = summed(usage, event.usage);
        end = event;
      } else if (event.type !== "message_stop" && isFirst) {
        yield event;
      }
    }
    const uses = content.filter((block) => block && isUse(block));
    uses.forEach(({ name, json }, index) => scanner.feedCall({ index, id: String(index), name, arguments: json || "{}" }));
    // A stream without an end was cut.
    yield* say(scanner.finish(reasonOf(end?.delta.stop_reason)));
    yield* close();
    const { outcome } = scanner;
    scanner.free();
    if (isWrong(outcome)) {
      wasQuestion = isQuestion(outcome);
      attempt = followup(attempt, echoed(content), outcome, left);
      stream = await ask(attempt);
      continue;
    }
    const made = usesOf(outcome, uses.map(({ json, ...use }) => use));
    if (made.length === 0 && held && !wasQuestion) {
      yield begin({ type: "text", text: "", citations: null });
      yield delta({ type: "text_delta", text: (said ? "\n\n" : "") + held });
      yield stop();
    }
    for (const { input, ...use } of made) {
      yield begin({ ...use, input: {} });
      yield delta({ type: "input_json_delta", partial_json: JSON.stringify(input) });
      yield stop();
    }
    if (end) yield { ...end, delta: { ...end.delta, stop_reason: endedBy(end.delta.stop_reason, made) }, usage };
    yield { type: "message_stop" };
    return;
  }
}

/** Adds a piece to a block that goes out as it is: a history must hold it whole, thoughts with their signature. */
const grown = (block, { type, thinking = "", signature = "", partial_json = "" }) => {
  if (type === "thinking_delta") block.thinking += thinking;
  if (type === "signature_delta") block.signature = signature;
  if (type === "input_json_delta") block.json += partial_json;
};

/** The blocks of a streamed answer for a history: the input of a call is an object there, whatever was written. */
const echoed = (content) =>
  content.filter(Boolean).map((block) => {
    if (isText(block)) return { type: "text", text: block.text };
    const { json, ...rest } = block;
    return json === undefined ? rest : { ...rest, input: inputOf(json) };
  });

const inputOf = (json) => {
  try {
    const input = JSON.parse(json || "{}");
    if (typeof input === "object" && input !== null && !Array.isArray(input)) return input;
  } catch {
    // It is what was refused.
  }
  return { unreadable_arguments: json };
};

/** An answer that is a value: whole, or with `stream` what is certain of it behind each piece, and all of it last. */
const structured = (request, responseModel, most, ask) => {
  if (request.tools?.length) throw new TypeError("responseModel and tools are two requests: an answer is a value or calls");
  const wanted = new ResponseModel(responseModel);
  const format = { type: "json_schema", schema: transformJSONSchema(wanted.schema) };
  const sent = { ...request, output_config: { format, ...request.output_config } };
  if (request.stream) return new Answer(streamed(sent, (stream) => values(stream, sent, wanted, most, ask), ask));
  return new Answer(value(sent, wanted, most, ask));
};

/** The request that tells the model what is wrong with its text. */
const answered = (request, text, { feedback }) => {
  const said = text.trim() === "" ? [] : [{ role: "assistant", content: text }];
  return { ...request, messages: [...request.messages, ...said, { role: "user", content: feedback }] };
};

const value = async (request, wanted, most, ask) => {
  let attempt = request;
  for (let left = most; ; left -= 1) {
    const { data, ...told } = await ask(attempt).withResponse();
    const text = textOf(data.content);
    try {
      return { ...told, data: await wanted.read(text, reasonOf(data.stop_reason)) };
    } catch (error) {
      if (!(error instanceof RefusedError) || left === 0) throw error;
      attempt = answered(attempt, text, error);
    }
  }
};

async function* values(stream, request, wanted, most, ask) {
  let attempt = request;
  for (let left = most; ; left -= 1) {
    let text = "";
    let reason = null;
    for await (const { type, delta } of stream) {
      if (type === "message_delta") reason = delta.stop_reason;
      if (type !== "content_block_delta" || delta.type !== "text_delta") continue;
      text += delta.text;
      const soFar = wanted.soFar(text);
      if (soFar.value !== undefined) yield soFar;
    }
    try {
      yield { value: await wanted.read(text, reasonOf(reason)), complete: [""] };
      return;
    } catch (error) {
      if (!(error instanceof RefusedError) || left === 0) throw error;
      attempt = answered(attempt, text, error);
      stream = await ask(attempt);
    }
  }
}
