import type { OpenAICompatibleProvider, OpenAICompatibleProviderSettings } from "@ai-sdk/openai-compatible";
import type { MiddlewareOptions } from "./ai-sdk.js";

export interface CallwrightSettings extends Omit<OpenAICompatibleProviderSettings, "name"> {
  /** The address of the server, with its `/v1`. */
  baseURL: string;
  /** That under which `providerOptions` are given: `callwright`. */
  name?: string;
  middleware?: Omit<MiddlewareOptions, "specificationVersion">;
}

export interface CallwrightProvider extends OpenAICompatibleProvider {
  (modelId: string): ReturnType<OpenAICompatibleProvider["chatModel"]>;
}

/**
 * Gives the models of a server that speaks as OpenAI does, with `callwrightMiddleware` around each: `callwright("qwen3")`. Models
 * of other kinds are those of `@ai-sdk/openai-compatible`, as they are.
 */
export declare function createCallwright(settings: CallwrightSettings): CallwrightProvider;
