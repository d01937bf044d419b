// The Vercel AI SDK: `generateText` and `streamText` with `stopWhen`. The argument says over which of its packages.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, stepCountIs, streamText, tool } from 'ai';
import { serve } from './tasks.mjs';
import { TOOLS } from './tools.mjs';

const PROVIDERS = {
  chat: (settings) => createOpenAICompatible({ name: 'upstream', ...settings }).chatModel,
  messages: createAnthropic,
  responses: (settings) => createOpenAI(settings).responses,
};

function declared(name) {
  const { description, parameters, execute } = TOOLS[name];
  return [name, tool({ description, inputSchema: parameters, execute })];
}

/** The steps of a run. A stream has to be read for its steps to happen, and tells its errors only there. */
async function steps(request, stream, report) {
  if (!stream) return (await generateText(request)).steps;
  const result = streamText({ ...request, onError: () => {} });
  for await (const part of result.fullStream) {
    if (part.type === 'error') report.errors.push(String(part.error));
  }
  return result.steps;
}

function read(part, report) {
  switch (part.type) {
    case 'tool-call':
      report.calls.push({ id: part.toolCallId, name: part.toolName, arguments: part.invalid ? null : part.input });
      break;
    case 'tool-result':
      report.results.push({ id: part.toolCallId, content: String(part.output) });
      break;
    case 'tool-error':
      report.results.push({ id: part.toolCallId, content: String(part.error) });
      report.errors.push(`${part.toolName}: ${part.error}`);
      break;
  }
}

await serve(async (task, report) => {
  const provider = PROVIDERS[process.argv[2]]({ baseURL: task.base_url, apiKey: 'none' });
  const request = {
    model: provider(task.model),
    prompt: task.ask,
    tools: Object.fromEntries(task.tools.map(declared)),
    stopWhen: stepCountIs(task.turns),
    temperature: 0,
    maxOutputTokens: task.max_tokens,
    maxRetries: 0,
  };
  for (const step of await steps(request, task.stream, report)) {
    step.content.forEach((part) => read(part, report));
    // How the scenarios call why a turn ended.
    report.finish.push(step.finishReason.replace('-', '_'));
    report.text = step.text;
  }
});
