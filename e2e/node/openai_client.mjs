// The `openai` package, by its own loop over tools: `runTools`, plain or streamed.
import OpenAI from 'openai';
import { z } from 'zod';
import { serve } from './tasks.mjs';
import { TOOLS, parsed } from './tools.mjs';

function runnable(name, report) {
  const { description, parameters, execute } = TOOLS[name];
  const parse = (text) => {
    try {
      return parameters.parse(JSON.parse(text));
    } catch (error) {
      report.errors.push(`${name}(${text}): ${error}`);
      throw error;
    }
  };
  const schema = z.toJSONSchema(parameters);
  return { type: 'function', function: { name, description, parameters: schema, parse, function: execute } };
}

await serve(async (task, report) => {
  // Without retries: a failure is the thing to see.
  const client = new OpenAI({ baseURL: task.base_url, apiKey: 'none', maxRetries: 0 });
  const runner = client.chat.completions.runTools(
    {
      model: task.model,
      messages: [{ role: 'user', content: task.ask }],
      tools: task.tools.map((name) => runnable(name, report)),
      temperature: 0,
      max_tokens: task.max_tokens,
      stream: task.stream,
    },
    { maxChatCompletions: task.turns },
  );
  runner.on('message', (message) => {
    if (message.role === 'tool') {
      report.results.push({ id: message.tool_call_id, content: message.content });
    } else if (message.role === 'assistant') {
      report.text = message.content ?? '';
      for (const call of message.tool_calls ?? []) {
        const { name, arguments: text } = call.function;
        report.calls.push({ id: call.id, name, arguments: parsed(text) });
        if (!task.tools.includes(name)) report.errors.push(`no tool of ours: ${name}`);
      }
    }
  });
  await runner.done();
  report.finish = runner.allChatCompletions().map((completion) => completion.choices[0].finish_reason);
});
