// The client of OpenAI: calls in answers are repaired, and the model is asked again about those that cannot be.

import OpenAI from "openai";
import { Stream } from "openai/core/streaming";

import { Answer, over } from "./client.js";
import { NOT_RUN, confirmation, corrections, errorOf, isWrong, readableArguments, refused, summed } from "./followup.js";
import { RefusedError, Scanner, ToolSet, heal, parse } from "./index.js";
import { ResponseModel } from "./response-model.js";

/** A client like `client`, over the same connections, that repairs what it receives. */
export const wrapOpenAI = (client, { maxCorrections = 2 } = {}) => {
  if (!(client instanceof OpenAI)) throw new TypeError("a client is an OpenAI of the package `openai`");
  corrections(maxCorrections);
  return over(client, (wrapped) => {
    const chat = new OpenAI.Chat(wrapped);
    chat.completions = new Completions(wrapped, maxCorrections);
    return { chat, withOptions: (options) => wrapOpenAI(client.withOptions(options), { maxCorrections }) };
  });
};

class Completions extends OpenAI.Chat.Completions {
  #left;

  constructor(client, maxCorrections) {
    super(client);
    this.#left = maxCorrections;
  }

  create({ responseModel, ...request }, options) {
    const ask = (next) => super.create(next, options);
    if (responseModel !== undefined) return structured(request, responseModel, this.#left, ask);
    const tools = toolSet(request);
    const format = request.stream ? null : jsonFormat(request);
    if (tools === null && format === null) return ask(request);
    if (!request.stream) return new Answer(whole(request, tools, format, this.#left, ask));
    if (1 < request.n) throw new TypeError("a stream is read of one choice: leave `n` out");
    return new Answer(streamed(request, (stream) => chunks(stream, request, tools, this.#left, ask), ask));
  }
}

/** The tools that are ours to read; `null` where there are none. */
const toolSet = ({ tools, tool_choice }) => {
  const functions = (tools ?? []).filter(({ type }) => type === "function");
  return functions.length === 0 || tool_choice === "none" ? null : new ToolSet(functions);
};

/** The schema that an answer is to have, `true` for any JSON; `null` where it is to be text. */
const jsonFormat = ({ response_format }) =>
  response_format?.type === "json_schema" ? (response_format.json_schema.schema ?? true)
  : response_format?.type === "json_object" ? true
  : null;

const newId = () => `call_${crypto.randomUUID().replaceAll("-", "").slice(0, 24)}`;

const written = ({ name, argumentsJson }, id) => ({ id, type: "function", function: { name, arguments: argumentsJson } });

/** The native calls that are ours to read; their places are their ids. Custom tools take text. */
const natives = (calls) =>
  (calls ?? []).flatMap(({ function: made }, place) =>
    made ? [{ id: String(place), name: made.name, arguments: made.arguments || "{}" }] : [],
  );

/** The calls of an answer as clients have them. */
const callsOf = (outcome, theirs) => {
  const made = (theirs ?? []).flatMap((call, place) => {
    if (!call.function) return [call];
    const of = outcome.calls.filter(({ id }) => id === String(place));
    return of.map((verdict, n) => {
      const { id, ...rest } = written(verdict, n === 0 && call.id ? call.id : newId());
      return { ...call, id, ...rest, function: { ...call.function, ...rest.function } };
    });
  });
  return [...made, ...outcome.calls.filter(({ id }) => id === null).map((call) => written(call, newId()))];
};

/** The request that tells the model what is wrong with its message; throws where nothing is left. */
const followup = (request, message, outcome, left) => {
  if (left === 0) throw errorOf(outcome);
  const open = new Map(outcome.refusals.map((refusal) => [refusal, refusal.feedback]));
  const told = [];
  // Each id wants an answer; a call beside a refused one is not run yet.
  const calls = (message.tool_calls ?? []).map((call, place) => {
    const id = call.id || newId();
    const refusal = outcome.refusals.find((refusal) => refusal.id === String(place));
    open.delete(refusal);
    told.push({ role: "tool", tool_call_id: id, content: refusal?.feedback ?? NOT_RUN });
    const made = call.function && { ...call.function, arguments: readableArguments(call.function.arguments || "{}") };
    return { ...call, id, ...(made ? { function: made } : {}) };
  });
  const words = [...open.values(), confirmation(outcome)].filter(Boolean);
  if (0 < words.length) told.push({ role: "user", content: words.join("\n\n") });
  // Servers refuse in a request what they themselves say to be nothing.
  const isSaid = ([key, member]) => key !== "tool_calls" && member !== null && !(Array.isArray(member) && member.length === 0);
  const said = { content: "", ...Object.fromEntries(Object.entries(message).filter(isSaid)), role: "assistant" };
  if (0 < calls.length) said.tool_calls = calls;
  return { ...request, messages: [...request.messages, said, ...told] };
};


const whole = async (request, tools, format, most, ask) => {
  const told = await ask(request).withResponse();
  const completion = told.data;
  for (const [place, first] of completion.choices.entries()) {
    let choice = first;
    let attempt = request;
    // What a call that was only shown stands in stays the answer.
    let shown = null;
    for (let left = most; ; left -= 1) {
      const next = reviewed(choice, tools, format, attempt, left);
      if (next === null) break;
      shown = next.isQuestion ? (shown ?? choice) : null;
      attempt = next.request;
      const again = await ask({ ...attempt, ...(request.n ? { n: 1 } : {}) });
      completion.usage = summed(completion.usage, again.usage);
      [choice] = again.choices;
    }
    const made = shown && !choice.message.tool_calls?.length ? shown : choice;
    completion.choices[place] = { ...made, index: first.index };
  }
  return told;
};

/** Repairs a choice in its place; gives the request to follow it where it is wrong, else `null`. */
const reviewed = (choice, tools, format, request, left) => {
  const { message, finish_reason: finishReason } = choice;
  if (message.refusal) return null;
  const text = message.content ?? "";
  if (tools) {
    const said = { native: natives(message.tool_calls), finishReason, toolChoice: request.tool_choice };
    const outcome = parse(text, tools, said);
    if (isWrong(outcome)) {
      const isQuestion = outcome.refusals.length === 0 && outcome.calls.length === 0;
      return { request: followup(request, message, outcome, left), isQuestion };
    }
    const calls = callsOf(outcome, message.tool_calls);
    if (0 < calls.length) {
      message.tool_calls = calls;
      if (outcome.calls.some(({ id }) => id === null)) message.content = outcome.text || null;
      if (finishReason === "stop") choice.finish_reason = "tool_calls";
      return null;
    }
  }
  if (format === null || message.tool_calls?.length) return null;
  try {
    message.content = heal(text, format, { finishReason }).text;
    return null;
  } catch (error) {
    if (!(error instanceof RefusedError) || left === 0) throw error;
    return { request: answered(request, text, error), isQuestion: false };
  }
};

/** The request that tells the model what is wrong with its text. */
const answered = (request, text, { feedback }) => ({
  ...request,
  messages: [...request.messages, { role: "assistant", content: text }, { role: "user", content: feedback }],
});

/** What `stream: true` gives, over what `events` makes of it. */
const streamed = async (request, events, ask) => {
  const told = await ask(request).withResponse();
  return { ...told, data: new Stream(() => events(told.data), told.data.controller) };
};

/** The chunks of one turn: text goes out as it is certain, calls where the answer ends and all are right. */
async function* chunks(stream, request, tools, most, ask) {
  let attempt = request;
  let usage = null;
  let said = "";
  let isQuestion = false;
  for (let left = most; ; left -= 1) {
    const isFirst = left === most;
    const scanner = new Scanner(tools, { nativeMode: true, toolChoice: request.tool_choice });
    const calls = new Calls();
    const tail = [];
    let content = "";
    let held = "";
    let finishReason = null;
    let last = null;
    let spent = null;
    const certain = (events) => {
      const text = events.map(({ kind, text }) => (kind === "text-delta" ? text : "")).join("");
      // Behind what was said, an answer that makes the calls again says nothing new.
      if (!isFirst) held += text;
      return isFirst ? text : "";
    };
    for await (const chunk of stream) {
      const [choice] = chunk.choices;
      // Some servers tell with each chunk what it took so far.
      spent = chunk.usage ?? spent;
      if (!choice) {
        tail.push(chunk);
        continue;
      }
      last = chunk;
      const { content: piece, tool_calls: pieces, role, ...delta } = choice.delta;
      content += piece ?? "";
      for (const call of pieces ?? []) calls.add(call);
      finishReason = choice.finish_reason ?? finishReason;
      const text = piece ? certain(scanner.feed(piece)) : "";
      said += text;
      if (isFirst && role) delta.role = role;
      if (text) delta.content = text;
      if (Object.keys(delta).length === 0) continue;
      yield { ...chunk, ...(chunk.usage ? { usage: null } : {}), choices: [{ ...choice, delta, finish_reason: null }] };
    }
    if (last === null) return;
    if (spent) usage = summed(usage, spent);
    const part = (delta, finish_reason) => ({
      ...last,
      // All that the turn took goes out with its end.
      ...(last.usage ? { usage: finish_reason === null ? null : usage } : {}),
      choices: [{ ...last.choices[0], delta, finish_reason }],
    });
    calls.made.forEach((call, index) => {
      if (!call.function) return;
      const { name, arguments: text } = call.function;
      scanner.feedCall({ index, id: String(index), name, arguments: text || "{}" });
    });
    // A stream without an end was cut.
    const rest = certain(scanner.finish(finishReason ?? "length"));
    said += rest;
    if (rest) yield part({ content: rest }, null);
    const { outcome } = scanner;
    if (isWrong(outcome)) {
      attempt = followup(attempt, { role: "assistant", content, tool_calls: calls.made }, outcome, left);
      isQuestion = outcome.refusals.length === 0 && outcome.calls.length === 0;
      scanner.free();
      stream = await ask(attempt);
      continue;
    }
    const made = callsOf(outcome, calls.made).map((call, index) => ({ index, ...call }));
    scanner.free();
    if (0 < made.length) yield part({ tool_calls: made }, null);
    else if (held && !isQuestion) yield part({ content: (said ? "\n\n" : "") + held }, null);
    yield part({}, 0 < made.length && finishReason === "stop" ? "tool_calls" : finishReason);
    for (const chunk of tail) yield chunk.usage ? { ...chunk, usage } : chunk;
    return;
  }
}

/** Native calls, from their pieces, in the order in which they began. */
class Calls {
  made = [];
  #places = new Map();

  add({ index, function: piece, ...call }) {
    const before = this.made[this.#places.get(index)];
    // Some servers count no index, but each call has an id.
    const isNew = !before || (call.id && before.id && before.id !== call.id);
    if (isNew) this.#places.set(index, this.made.length);
    if (isNew) this.made.push({ type: "function" });
    const kept = this.made[this.#places.get(index)];
    for (const [key, member] of Object.entries(call)) {
      const input = (kept.custom?.input ?? "") + (member?.input ?? "");
      if (key === "custom") kept.custom = { ...kept.custom, ...member, input };
      else if (member) kept[key] = member;
    }
    if (!piece) return;
    const { name, arguments: text, ...others } = piece;
    const own = (kept.function ??= { name: "", arguments: "" });
    Object.assign(own, others);
    own.name ||= name ?? "";
    own.arguments += text ?? "";
  }
}

/** An answer that is a value: whole, or with `stream` what is certain of it behind each piece, and all of it last. */
const structured = (request, responseModel, most, ask) => {
  if (request.tools?.length) throw new TypeError("responseModel and tools are two requests: an answer is a value or calls");
  if (1 < request.n) throw new TypeError("responseModel reads one choice: leave `n` out");
  const wanted = new ResponseModel(responseModel);
  const json_schema = { name: wanted.name, schema: wanted.schema };
  const sent = { response_format: { type: "json_schema", json_schema }, ...request };
  if (request.stream) return new Answer(streamed(sent, (stream) => values(stream, sent, wanted, most, ask), ask));
  return new Answer(value(sent, wanted, most, ask));
};

const value = async (request, wanted, most, ask) => {
  let attempt = request;
  for (let left = most; ; left -= 1) {
    const { data, ...told } = await ask(attempt).withResponse();
    const [{ message, finish_reason: finishReason }] = data.choices;
    declined(message.refusal);
    const text = message.content ?? "";
    try {
      return { ...told, data: await wanted.read(text, finishReason) };
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
    let refusal = "";
    let finishReason = null;
    for await (const { choices: [choice] } of stream) {
      if (!choice) continue;
      finishReason = choice.finish_reason ?? finishReason;
      refusal += choice.delta.refusal ?? "";
      if (!choice.delta.content) continue;
      text += choice.delta.content;
      const soFar = wanted.soFar(text);
      if (soFar.value !== undefined) yield soFar;
    }
    declined(refusal);
    try {
      // A stream without an end was cut.
      yield { value: await wanted.read(text, finishReason ?? "length"), complete: [""] };
      return;
    } catch (error) {
      if (!(error instanceof RefusedError) || left === 0) throw error;
      attempt = answered(attempt, text, error);
      stream = await ask(attempt);
    }
  }
}

const declined = (words) => {
  if (words) throw refused("declined", `the model declines: ${words}`, JSON.stringify({ error: words }));
};
