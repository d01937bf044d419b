// The `@anthropic-ai/sdk` package: a loop over messages, plain or with the stream helper.
import Anthropic from '@anthropic-ai/sdk';
import { z } from 'zod';
import { serve } from './tasks.mjs';
import { TOOLS, answered } from './tools.mjs';

// How the scenarios call why a turn ended.
const FINISHES = { tool_use: 'tool_calls', end_turn: 'stop', max_tokens: 'length' };

function declared(name) {
  const { description, parameters } = TOOLS[name];
  return { name, description, input_schema: z.toJSONSchema(parameters) };
}

await serve(async (task, report) => {
  // Its base URL has no /v1. Without retries: a failure is the thing to see.
  const baseURL = task.base_url.replace(/\/v1$/, '');
  const client = new Anthropic({ baseURL, apiKey: 'none', maxRetries: 0 });
  const messages = [{ role: 'user', content: task.ask }];
  const tools = task.tools.map(declared);
  const request = { model: task.model, messages, tools, temperature: 0, max_tokens: task.max_tokens };
  for (let turn = 0; turn < task.turns; turn += 1) {
    // The helper puts the events of a stream together, and refuses those that come out of order.
    const message = task.stream
      ? await client.messages.stream(request).finalMessage()
      : await client.messages.create(request);
    report.finish.push(FINISHES[message.stop_reason] ?? message.stop_reason);
    report.text = message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    const calls = message.content.filter((block) => block.type === 'tool_use');
    if (calls.length === 0) return;
    messages.push({ role: 'assistant', content: message.content });
    const results = calls.map(({ id, name, input }) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: answered({ id, name, arguments: input }, report),
    }));
    messages.push({ role: 'user', content: results });
  }
});
