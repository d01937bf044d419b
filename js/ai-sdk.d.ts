import type { LanguageModelMiddleware, ToolCallRepairFunction, ToolSet } from "ai";
import type { Options } from "./types.js";

/** For `repairToolCall` of `generateText` and `streamText`: what has one reading is repaired, a cut call never. */
export declare const repairToolCall: ToolCallRepairFunction<ToolSet>;

export interface MiddlewareOptions extends Omit<Options, "finishReason"> {
  /** That of the models: `v4` for version 7 of the AI SDK, `v3` for version 6. */
  specificationVersion?: "v3" | "v4";
}

/** For `wrapLanguageModel`: reads calls that a model writes as text, and holds all calls to their tools' schemas. */
export declare function callwrightMiddleware(options?: MiddlewareOptions): LanguageModelMiddleware;
