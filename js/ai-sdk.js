// The AI SDK: repair functions for what it cannot read, and a middleware for models that write calls as text.

import { confirmation, summed } from "./followup.js";
import { RefusedError, Scanner, ToolSet, heal, parse } from "./index.js";
import { StrictPrefix } from "./strict-prefix.js";

/** How the input of a call begins that the middleware refused: nothing that begins so is JSON. */
const NOT_RUN = "Not run: ";

/**
 * For `repairToolCall` of `generateText` and `streamText`.
 *
 * The hook is not told why the model stopped, so that what may have been cut off is never closed. What has not exactly one
 * reading stays an error, and the model is told what to do about it.
 */
export const repairToolCall = async ({ toolCall, tools, inputSchema, error }) => {
  if (toolCall.input.startsWith(NOT_RUN)) return refused(error, toolCall.input);
  if (!Object.hasOwn(tools ?? {}, toolCall.toolName)) {
    const declared = Object.keys(tools ?? {}).map((name) => ({ name, parameters: { type: "object" } }));
    const native = [{ name: toolCall.toolName, arguments: "{}" }];
    const [refusal] = declared.length === 0 ? [] : parse("", declared, { native }).refusals;
    return refused(error, refusal?.feedback);
  }
  try {
    const schema = await inputSchema({ toolName: toolCall.toolName });
    return { ...toolCall, input: heal(toolCall.input, schema, { finishReason: "length" }).text };
  } catch (failed) {
    if (failed instanceof RefusedError) return refused(error, failed.feedback);
    throw failed;
  }
};

/** The call stays an error, whose message is what the model is told. */
const refused = (error, feedback) => {
  if (error && feedback) error.message = feedback;
  return null;
};

/**
 * For `repairText` of `generateObject` and `streamObject`. The hook is told neither why the model stopped nor the schema, so that
 * nothing is closed, and what is strict JSON stays as it is.
 */
export const repairText = async ({ text }) => {
  const healed = healedText(text, undefined, "length");
  return healed === text ? null : healed;
};

/**
 * For `wrapLanguageModel`: reads the calls in what a model writes as text, whichever dialect it writes them in, and holds all
 * calls to the schemas of their tools. Of a call that may not run, the input becomes what to tell the model, as a sentence: the
 * SDK cannot read that as JSON, so that it runs nothing, and hands it on as the error. An answer that is to be JSON becomes what
 * its schema asks for, if it has one reading.
 */
export const callwrightMiddleware = ({ specificationVersion = "v4", live = false, ...given } = {}) => {
  const options = { nativeMode: given.asked === undefined && given.only === undefined, ...given };
  return {
    specificationVersion,
    wrapGenerate: async ({ doGenerate, model, params }) => {
      const result = await doGenerate();
      const tools = toolSet(params);
      if (!tools) return structured(result, params);
      try {
        const { made, calls, question, text } = read(result, tools, options);
        if (0 < calls) return made;
        if (question === null) return structured(made, params);
        const again = await model.doGenerate(asking(params, text, question));
        const second = read(again, tools, options);
        const usage = summed(result.usage, again.usage);
        return { ...(0 < second.calls ? second.made : made), usage };
      } finally {
        tools.free();
      }
    },
    wrapStream: async ({ doStream, model, params }) => {
      const { stream, ...rest } = await doStream();
      const tools = toolSet(params);
      const isJson = params.responseFormat?.type === "json";
      const is = tools || isJson ? stream.pipeThrough(reader(tools, options, { live, model, params })) : stream;
      return { stream: is, ...rest };
    },
  };
};

/** Whether a model may be asked about what it may have meant. */
const asks = ({ policy = "auto" }) => policy === "auto" || policy === "feedback";

/** The request that asks what was meant by an answer. */
const asking = (params, text, question) => ({
  ...params,
  prompt: [
    ...params.prompt,
    { role: "assistant", content: [{ type: "text", text }] },
    { role: "user", content: [{ type: "text", text: question }] },
  ],
});

/** The text as its schema asks for it; as it is where it has not exactly one reading: the SDK says what it finds in it. */
const healedText = (text, schema, finishReason) => {
  try {
    return heal(text, schema, { finishReason }).text;
  } catch (failed) {
    if (failed instanceof RefusedError) return text;
    throw failed;
  }
};

const textOf = (content) => content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");

/** An answer that is to be JSON, repaired in the first part of its text. */
const structured = (result, { responseFormat }) => {
  if (responseFormat?.type !== "json") return result;
  const written = result.structuredOutputText ?? textOf(result.content);
  const text = healedText(written, responseFormat.schema, reasonOf(result.finishReason));
  if (text === written) return result;
  if (result.structuredOutputText !== undefined) return { ...result, structuredOutputText: text };
  const first = result.content.findIndex(({ type }) => type === "text");
  const content = result.content.flatMap((part, n) =>
    part.type !== "text" ? [part]
    : n === first ? [{ ...part, text }]
    : [],
  );
  return { ...result, content };
};

const toolSet = ({ tools, toolChoice }) => {
  const functions = (tools ?? []).filter(({ type }) => type === "function");
  if (functions.length === 0 || toolChoice?.type === "none") return null;
  return new ToolSet(
    functions.map(({ name, description, inputSchema }) => ({ name, description, parameters: inputSchema })),
  );
};

/** Calls that the model's server runs itself are its own affair. */
const isOurs = (part) => part.type === "tool-call" && !part.providerExecuted && !part.dynamic;

const native = ({ toolCallId, toolName, input }) => ({ id: toolCallId, name: toolName, arguments: input });

/** The reason in the words of those who serve models. */
const reasonOf = ({ unified }) =>
  unified === "length" ? "length"
  : unified === "content-filter" ? "content_filter"
  : unified === "error" || unified === "interrupted" ? "error"
  : "stop";

/** An answer that was ended by its calls says so; one that was cut is cut. */
const endedBy = (finishReason, calls) =>
  0 < calls && finishReason.unified === "stop" ? { ...finishReason, unified: "tool-calls" } : finishReason;

/** A verdict as a part; `of` is the native call that it is about. A refusal that names no tool is no call. */
const part = (verdict, of) => {
  if (verdict.kind === "refusal" && !of && verdict.name === null) return null;
  return {
    ...(of ?? { type: "tool-call", toolCallId: crypto.randomUUID() }),
    toolName: verdict.name ?? of.toolName,
    input: verdict.kind === "call" ? verdict.argumentsJson : notRun(verdict),
  };
};

/** What to tell the model, in words: the feedback on a native call is JSON, which a repair function could find in them. */
const notRun = ({ message, hints }) => NOT_RUN + [message, ...hints].map((sentence) => `${sentence}.`).join(" ");

/** The answer as it goes out, how many calls it makes or tried to, and what to ask where it may have meant to make one. */
const read = (result, tools, options) => {
  const ours = result.content.filter(isOurs);
  const text = textOf(result.content);
  const said = { ...options, finishReason: reasonOf(result.finishReason) };
  if (0 < ours.length) said.native = ours.map(native);
  const outcome = parse(text, tools, said);
  const natives = ours.values();
  const parts = outcome.verdicts.map((verdict) => part(verdict, isNative(verdict) ? natives.next().value : undefined));
  const calls = parts.filter((part) => part !== null);
  // Whatever is no call is the text's, and the first part of text holds all of it.
  const unread = outcome.refusals.filter((refusal) => refusal.name === null && !isNative(refusal));
  const rest = [outcome.text, ...unread.map(({ start, end }) => text.slice(start, end))].filter(Boolean).join("\n");
  let isTold = false;
  const content = result.content.flatMap((part) => {
    if (isOurs(part)) return [];
    if (part.type !== "text" || rest === text) return [part];
    if (isTold || rest === "") return [];
    isTold = true;
    return [{ ...part, text: rest }];
  });
  const made = { ...result, content: [...content, ...calls], finishReason: endedBy(result.finishReason, calls.length) };
  const question = calls.length === 0 && asks(options) ? confirmation(outcome) : null;
  return { made, calls: calls.length, question, text };
};

const isNative = ({ dialect }) => dialect === "native";

const reader = (tools, options, { live, model, params }) => {
  const scanner = tools && new Scanner(tools, options);
  const json = params.responseFormat?.type === "json" ? new HeldJson(params.responseFormat.schema, live) : null;
  const ours = [];
  // The end of a text is told once no more can come of it.
  let open = null;
  let ending = null;
  let written = "";
  let calls = 0;

  const end = (controller) => {
    if (ending) controller.enqueue(ending);
    ending = open = null;
  };

  const say = (text, controller) => {
    if (text === "") return;
    if (open) return controller.enqueue({ type: "text-delta", id: open, delta: text });
    const id = crypto.randomUUID();
    controller.enqueue({ type: "text-start", id });
    controller.enqueue({ type: "text-delta", id, delta: text });
    controller.enqueue({ type: "text-end", id });
  };

  const hear = (text, controller) => say(json ? json.feed(text) : text, controller);

  const made = (call, isNew, controller) => {
    calls += 1;
    if (isNew) {
      const { toolCallId: id, toolName, input } = call;
      controller.enqueue({ type: "tool-input-start", id, toolName });
      controller.enqueue({ type: "tool-input-delta", id, delta: input });
      controller.enqueue({ type: "tool-input-end", id });
    }
    controller.enqueue(call);
  };

  const tell = (event, controller, natives) => {
    if (event.kind === "text-delta") return hear(event.text, controller);
    if (event.kind !== "call" && event.kind !== "refusal") return;
    const of = isNative(event) ? natives.next().value : undefined;
    const call = part(event, of);
    if (call === null) return hear(written.slice(event.start, event.end), controller);
    made(call, !of, controller);
  };

  /** Ends the text and the calls; gives what to ask where the answer may have meant to make one. */
  const finish = (finishReason, controller) => {
    if (scanner) {
      ours.forEach((call, index) => scanner.feedCall({ index, ...native(call) }));
      const natives = ours.values();
      for (const event of scanner.finish(finishReason)) tell(event, controller, natives);
    }
    const question = scanner && calls === 0 && asks(options) ? confirmation(scanner.outcome) : null;
    if (json) say(json.finish(0 < calls || question !== null ? null : finishReason), controller);
    scanner?.free();
    end(controller);
    return question;
  };

  /** Asks once, and gives what that took. What was said stands, so that of the second answer the calls go out alone. */
  const ask = async (question, controller) => {
    const again = await model.doGenerate(asking(params, written, question));
    const second = read(again, tools, options);
    for (const part of second.made.content) if (part.type === "tool-call") made(part, true, controller);
    return { usage: again.usage, finishReason: 0 < second.calls ? second.made.finishReason : null };
  };

  let isFinished = false;
  return new TransformStream({
    async transform(part, controller) {
      if (part.type === "text-start") {
        // A text that is JSON is one, whatever parts it came in.
        if (json && open) return;
        end(controller);
        open = part.id;
        controller.enqueue(part);
      } else if (part.type === "text-delta") {
        written += part.delta;
        if (!scanner) return hear(part.delta, controller);
        for (const event of scanner.feed(part.delta)) tell(event, controller);
      } else if (part.type === "text-end") {
        ending = open === part.id ? part : ending;
      } else if (scanner && isOurs(part)) {
        ours.push(part);
      } else if (part.type === "finish") {
        isFinished = true;
        const question = finish(reasonOf(part.finishReason), controller);
        const { usage, finishReason } = question === null ? {} : await ask(question, controller);
        tools?.free();
        const is = finishReason ?? endedBy(part.finishReason, calls);
        controller.enqueue({ ...part, finishReason: is, ...(usage ? { usage: summed(part.usage, usage) } : {}) });
      } else {
        controller.enqueue(part);
      }
    },
    flush(controller) {
      // A stream that says no end was cut.
      if (!isFinished) finish("error", controller);
      tools?.free();
    },
  });
};

/** A text that is to be JSON: held until its end, or with `live` until the first thing in it that is not strict. */
class HeldJson {
  #schema;
  #prefix;
  #written = "";
  #said = "";

  constructor(schema, live) {
    this.#schema = schema;
    this.#prefix = live ? new StrictPrefix() : null;
  }

  /** What of the text may go out. */
  feed(piece) {
    // Blanks before a value are none of it.
    const text = this.#written === "" ? piece.trimStart() : piece;
    this.#written += text;
    const certain = this.#prefix?.feed(text) ?? "";
    this.#said += certain;
    return certain;
  }

  /** What is left: the repaired text's, or the text's own where that does not continue what was said, or there is no reason. */
  finish(reason) {
    const healed = reason === null ? this.#written : healedText(this.#written, this.#schema, reason);
    return (healed.startsWith(this.#said) ? healed : this.#written).slice(this.#said.length);
  }
}
