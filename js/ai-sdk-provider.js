// A provider of the AI SDK for servers that speak as OpenAI does, with the middleware around each model.

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { wrapLanguageModel } from "ai";

import { callwrightMiddleware } from "./ai-sdk.js";

/** Gives the models of one server: `callwright("qwen3")`. */
export const createCallwright = ({ baseURL, name = "callwright", middleware, ...settings }) => {
  if (typeof baseURL !== "string") throw new TypeError("baseURL is the address of a server, as text");
  const provider = createOpenAICompatible({ ...settings, baseURL, name });
  const chatModel = (id) => {
    const model = provider.chatModel(id);
    const { specificationVersion } = model;
    return wrapLanguageModel({ model, middleware: callwrightMiddleware({ ...middleware, specificationVersion }) });
  };
  return Object.assign((id) => chatModel(id), provider, { chatModel, languageModel: chatModel });
};
