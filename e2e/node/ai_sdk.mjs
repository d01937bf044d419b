// The Vercel AI SDK over `@ai-sdk/openai-compatible`: `generateText` and `streamText` with `stopWhen`.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, stepCountIs, streamText, tool } from 'ai';
import { serve } from './tasks.mjs';
import { TOOLS } from './tools.mjs';

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
  const provider = createOpenAICompatible({ name: 'upstream', baseURL: task.base_url, apiKey: 'none' });
  const request = {
    model: provider.chatModel(task.model),
    prompt: task.ask,
    tools: Object.fromEntries(task.tools.map(declared)),
    stopWhen: stepCountIs(task.turns),
    temperature: 0,
    maxOutputTokens: task.max_tokens,
    maxRetries: 0,
  };
  for (const step of await steps(request, task.stream, report)) {
    step.content.forEach((part) => read(part, report));
    report.finish.push(step.rawFinishReason);
    report.text = step.text;
  }
});
