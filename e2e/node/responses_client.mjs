// The `openai` package's responses: each turn goes on from the one before by its id, plain or with the stream helper.
import OpenAI from 'openai';
import { z } from 'zod';
import { serve } from './tasks.mjs';
import { TOOLS, answered, parsed } from './tools.mjs';

function declared(name) {
  const { description, parameters } = TOOLS[name];
  return { type: 'function', name, description, parameters: z.toJSONSchema(parameters), strict: false };
}

await serve(async (task, report) => {
  // Without retries: a failure is the thing to see.
  const client = new OpenAI({ baseURL: task.base_url, apiKey: 'none', maxRetries: 0 });
  const tools = task.tools.map(declared);
  let input = [{ role: 'user', content: task.ask }];
  let before;
  for (let turn = 0; turn < task.turns; turn += 1) {
    const request = { model: task.model, input, tools, temperature: 0, max_output_tokens: task.max_tokens };
    if (before !== undefined) request.previous_response_id = before;
    // The helper puts the events of a stream together, and refuses those that come out of order.
    const response = task.stream
      ? await client.responses.stream(request).finalResponse()
      : await client.responses.create(request);
    if (response.error) throw new Error(response.error.message);
    const calls = response.output.filter((item) => item.type === 'function_call');
    // How the scenarios call why a turn ended.
    const finish = calls.length ? 'tool_calls' : 'stop';
    report.finish.push(response.status === 'completed' ? finish : response.status);
    report.text = response.output_text;
    if (calls.length === 0) return;
    before = response.id;
    input = calls.map((item) => ({
      type: 'function_call_output',
      call_id: item.call_id,
      output: answered({ id: item.call_id, name: item.name, arguments: parsed(item.arguments) }, report),
    }));
  }
});
