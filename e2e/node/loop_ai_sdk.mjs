// The Vercel AI SDK: `generateText` or `streamText`, over one of its packages.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';
import { main, schemas, SYSTEM, TOOLS } from './loop.mjs';

const PROVIDERS = {
  chat: (settings) => createOpenAICompatible({ name: 'upstream', ...settings }),
  messages: createAnthropic,
  responses: createOpenAI,
};

await main(async ([wire, mode], url, model, ask) => {
  const provider = PROVIDERS[wire]({ baseURL: `${url}/v1`, apiKey: 'none' });
  const declared = Object.entries(schemas(z)).map(([name, inputSchema]) => [name, tool({ ...TOOLS[name], inputSchema })]);
  const request = {
    model: provider(model),
    system: SYSTEM,
    prompt: ask,
    tools: Object.fromEntries(declared),
    stopWhen: stepCountIs(50),
  };
  if (mode === 'whole') return (await generateText(request)).text;
  let failed;
  const result = streamText({ ...request, onError: ({ error }) => (failed = error) });
  // A stream has to be read for its steps to happen.
  for await (const _ of result.fullStream);
  if (failed) throw failed;
  return result.text;
});
