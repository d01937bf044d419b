// The AI SDK: a repair function for calls that it cannot read, and a middleware for models that write calls as text.

import { RefusedError, Scanner, ToolSet, heal, parse } from "./index.js";

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
 * For `wrapLanguageModel`: reads the calls in what a model writes as text, whichever dialect it writes them in, and holds all
 * calls to the schemas of their tools. Of a call that may not run, the input becomes what to tell the model, as a sentence: the
 * SDK cannot read that as JSON, so that it runs nothing, and hands it on as the error.
 */
export const callwrightMiddleware = ({ specificationVersion = "v4", ...options } = {}) => ({
  specificationVersion,
  wrapGenerate: async ({ doGenerate, params }) => {
    const result = await doGenerate();
    const tools = toolSet(params);
    return tools ? read(result, tools, options) : result;
  },
  wrapStream: async ({ doStream, params }) => {
    const { stream, ...rest } = await doStream();
    const tools = toolSet(params);
    return { stream: tools ? stream.pipeThrough(reader(tools, options)) : stream, ...rest };
  },
});

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

const read = (result, tools, options) => {
  const ours = result.content.filter(isOurs);
  const text = result.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("");
  const said = { ...options, finishReason: reasonOf(result.finishReason) };
  if (0 < ours.length) said.native = ours.map(native);
  const outcome = parse(text, tools, said);
  tools.free();
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
  return { ...result, content: [...content, ...calls], finishReason: endedBy(result.finishReason, calls.length) };
};

const isNative = ({ dialect }) => dialect === "native";

const reader = (tools, options) => {
  const scanner = new Scanner(tools, options);
  tools.free();
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
    if (open) return controller.enqueue({ type: "text-delta", id: open, delta: text });
    const id = crypto.randomUUID();
    controller.enqueue({ type: "text-start", id });
    controller.enqueue({ type: "text-delta", id, delta: text });
    controller.enqueue({ type: "text-end", id });
  };

  const tell = (event, controller, natives) => {
    if (event.kind === "text-delta") return say(event.text, controller);
    if (event.kind !== "call" && event.kind !== "refusal") return;
    const of = isNative(event) ? natives.next().value : undefined;
    const call = part(event, of);
    if (call === null) return say(written.slice(event.start, event.end), controller);
    calls += 1;
    if (!of) {
      const { toolCallId: id, toolName, input } = call;
      controller.enqueue({ type: "tool-input-start", id, toolName });
      controller.enqueue({ type: "tool-input-delta", id, delta: input });
      controller.enqueue({ type: "tool-input-end", id });
    }
    controller.enqueue(call);
  };

  const finish = (finishReason, controller) => {
    ours.forEach((call, index) => scanner.feedCall({ index, ...native(call) }));
    const natives = ours.values();
    for (const event of scanner.finish(finishReason)) tell(event, controller, natives);
    scanner.free();
    end(controller);
  };

  let isFinished = false;
  return new TransformStream({
    transform(part, controller) {
      if (part.type === "text-start") {
        end(controller);
        open = part.id;
        controller.enqueue(part);
      } else if (part.type === "text-delta") {
        written += part.delta;
        for (const event of scanner.feed(part.delta)) tell(event, controller);
      } else if (part.type === "text-end") {
        ending = part;
      } else if (isOurs(part)) {
        ours.push(part);
      } else if (part.type === "finish") {
        isFinished = true;
        finish(reasonOf(part.finishReason), controller);
        controller.enqueue({ ...part, finishReason: endedBy(part.finishReason, calls) });
      } else {
        controller.enqueue(part);
      }
    },
    flush(controller) {
      // A stream that says no end was cut.
      if (!isFinished) finish("error", controller);
    },
  });
};
