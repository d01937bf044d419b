import type { LanguageModelMiddleware, RepairTextFunction, ToolCallRepairFunction, ToolSet } from "ai";
import type { Options } from "./types.js";

/** For `repairToolCall` of `generateText` and `streamText`: what has one reading is repaired, a cut call never. */
export declare const repairToolCall: ToolCallRepairFunction<ToolSet>;

/** For `repairText` of `generateObject` and `streamObject`: what has one reading is repaired, a cut text never. */
export declare const repairText: RepairTextFunction;

export interface MiddlewareOptions extends Omit<Options, "finishReason"> {
  /** That of the models: `v4` for version 7 of the AI SDK, `v3` for version 6. */
  specificationVersion?: "v3" | "v4";
  /** True unless a dialect was `asked` for, or is the `only` one. */
  nativeMode?: boolean;
  /** A streamed answer that is to be JSON goes out as it comes while it is strict; without it, repaired at its end. */
  live?: boolean;
}

/**
 * For `wrapLanguageModel`: reads calls that a model writes as text, and holds all calls to their tools' schemas, and structured
 * output to its own. Asks once about a call that may be made as well as shown.
 */
export declare function callwrightMiddleware(options?: MiddlewareOptions): LanguageModelMiddleware;
