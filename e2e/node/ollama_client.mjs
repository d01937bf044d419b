// The `ollama` package: a loop over chats, plain or streamed. It keeps no ids of calls.
import { Ollama } from 'ollama';
import { z } from 'zod';
import { serve } from './tasks.mjs';
import { TOOLS, answered } from './tools.mjs';

function declared(name) {
  const { description, parameters } = TOOLS[name];
  return { type: 'function', function: { name, description, parameters: z.toJSONSchema(parameters) } };
}

/** One answer; the pieces of a stream are put together. */
async function turn(client, request, stream) {
  if (!stream) return client.chat({ ...request, stream: false });
  const message = { role: 'assistant', content: '', tool_calls: [] };
  let done_reason;
  for await (const part of await client.chat({ ...request, stream: true })) {
    message.content += part.message.content;
    message.tool_calls.push(...(part.message.tool_calls ?? []));
    done_reason = part.done_reason ?? done_reason;
  }
  return { message, done_reason };
}

await serve(async (task, report) => {
  // Its address has no /v1.
  const client = new Ollama({ host: task.base_url.replace(/\/v1$/, '') });
  const { models } = await client.list();
  if (models.length === 0) throw new Error('no models');
  const messages = [{ role: 'user', content: task.ask }];
  const tools = task.tools.map(declared);
  const options = { temperature: 0, num_predict: task.max_tokens };
  for (let n = 0; n < task.turns; n += 1) {
    const { message, done_reason } = await turn(client, { model: task.model, messages, tools, options }, task.stream);
    const calls = message.tool_calls ?? [];
    // The API has no word of its own for calls.
    report.finish.push(calls.length > 0 && done_reason === 'stop' ? 'tool_calls' : done_reason);
    report.text = message.content;
    if (calls.length === 0) return;
    messages.push(message);
    for (const call of calls) {
      const { name, arguments: input } = call.function;
      // The package has no ids, but the suite is told which result is whose.
      const content = answered({ id: String(report.calls.length), name, arguments: input }, report);
      messages.push({ role: 'tool', tool_name: name, content });
    }
  }
});
