// Compiled, not run: what users write has the types that they expect.
import Anthropic from "@anthropic-ai/sdk";
import { generateText, jsonSchema, wrapLanguageModel, type LanguageModel } from "ai";
import OpenAI, { AzureOpenAI } from "openai";
import { z } from "zod";

import { type Call, type Event, type Outcome, RefusedError, Scanner, Schema, ToolSet, heal, loads, parse, partial } from "callwright";
import { callwrightMiddleware, repairText, repairToolCall } from "callwright/ai-sdk";
import { createCallwright } from "callwright/ai-sdk/provider";
import { wrapAnthropic } from "callwright/anthropic";
import * as full from "callwright/full";
import { init } from "callwright/init";
import { wrapOpenAI } from "callwright/openai";

const tools = new ToolSet([{ name: "f", parameters: { type: "object" } }]);
const outcome: Outcome = parse("", tools, { native: [{ id: "1", function: { name: "f", arguments: "{}" } }], policy: "strict" });
const calls: readonly Call[] = outcome.calls;
const text: string = heal("{}", new Schema({ type: "object" }), { finishReason: "stop" }).text;
const value: unknown = loads(text, { type: "object" });
const weather: { city: string } = loads(text, z.object({ city: z.string() }));
// @ts-expect-error: it has no such member
weather.days;
// @ts-expect-error: a city is a text
loads(text, z.object({ city: z.string() })).city satisfies number;
loads(text, jsonSchema<{ city: string }>({ type: "object" })).city satisfies string;
const large: unknown = loads(text, undefined, { bigint: "auto", reviver: (key, value) => (key ? value : [value]) });
// @ts-expect-error: no such choice
loads(text, undefined, { bigint: "all" });
const soFar = partial(text, z.object({ city: z.string(), days: z.array(z.object({ high: z.int() })) }));
soFar.value?.days?.[0]?.high satisfies number | undefined;
soFar.complete satisfies readonly string[];
const typed = new ToolSet([{ name: "f", parameters: jsonSchema<{ city: string }>({ type: "object" }) }]);
const scanner = new Scanner([{ name: "f" }], { live: true });
scanner.partial()?.arguments.complete satisfies readonly string[] | undefined;
const events: Event[] = [...scanner.feed("x"), ...scanner.finish("stop")];
for (const event of events) {
  if (event.kind === "call") calls.includes(event);
  if (event.kind === "text-delta") event.text satisfies string;
}
try {
  full.loads("{", true);
} catch (error) {
  if (error instanceof RefusedError) error.position?.offset satisfies number | undefined;
}
declare const module: WebAssembly.Module;
init(module).parse("", tools);
declare const model: Extract<LanguageModel, { specificationVersion: "v4" }>;
generateText({ model: wrapLanguageModel({ model, middleware: callwrightMiddleware() }), prompt: "x", repairToolCall });
generateText({ model: createCallwright({ baseURL: "http://127.0.0.1:8000/v1" })("m"), prompt: "x" });
repairText({ text, error: undefined as never }) satisfies Promise<string | null>;
const openai = wrapOpenAI(new AzureOpenAI());
openai.deploymentName satisfies string | undefined;
const messages = [{ role: "user" as const, content: "x" }];
(await openai.chat.completions.create({ model: "m", messages })).choices[0]?.message.content satisfies string | null | undefined;
for await (const chunk of await openai.chat.completions.create({ model: "m", messages, stream: true })) chunk.choices;
const City = z.object({ name: z.string(), days: z.string().transform(Number) });
const asked = await openai.chat.completions.create({ model: "m", messages, responseModel: City });
asked.days satisfies number;
// @ts-expect-error: it has no such member
asked.country;
for await (const part of await openai.chat.completions.create({ model: "m", messages, responseModel: City, stream: true })) {
  part.value?.name satisfies string | undefined;
}
// @ts-expect-error: no such option
wrapOpenAI(new OpenAI(), { corrections: 1 });
const anthropic = wrapAnthropic(new Anthropic());
const answer = await anthropic.messages.create({ model: "m", max_tokens: 1, messages, responseModel: City });
answer.name satisfies string;
(await anthropic.messages.create({ model: "m", max_tokens: 1, messages })).stop_reason;
// @ts-expect-error: no such policy
parse("", tools, { policy: "never" });
export { large, typed, value };
