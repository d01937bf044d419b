// The package `@google/genai`, as its own pages show it: a chat that keeps its history itself, plain or streamed.
import { GoogleGenAI } from '@google/genai';
import { z } from 'zod';
import { serve } from './tasks.mjs';
import { TOOLS, answered } from './tools.mjs';

// The API has no word of its own for calls.
const REASONS = { STOP: 'stop', MAX_TOKENS: 'length', SAFETY: 'content_filter' };

function declared(name) {
  const { description, parameters } = TOOLS[name];
  return { name, description, parametersJsonSchema: z.toJSONSchema(parameters) };
}

/** The text of one answer, its calls, and why it ended. */
async function turn(chat, message, stream) {
  const parts = stream ? await chat.sendMessageStream({ message }) : [await chat.sendMessage({ message })];
  const calls = [];
  let text = '';
  let reason;
  for await (const part of parts) {
    text += part.text ?? '';
    calls.push(...(part.functionCalls ?? []));
    reason = part.candidates[0].finishReason ?? reason;
  }
  return { text, calls, reason };
}

await serve(async (task, report) => {
  // Its address has no /v1.
  const httpOptions = { baseUrl: task.base_url.replace(/\/v1$/, '') };
  const ai = new GoogleGenAI({ apiKey: 'none', httpOptions });
  if ((await ai.models.list()).page.length === 0) throw new Error('no models');
  const config = {
    temperature: 0,
    maxOutputTokens: task.max_tokens,
    tools: [{ functionDeclarations: task.tools.map(declared) }],
  };
  const chat = ai.chats.create({ model: task.model, config });
  let message = task.ask;
  for (let n = 0; n < task.turns; n += 1) {
    const { text, calls, reason } = await turn(chat, message, task.stream);
    report.finish.push(calls.length > 0 && reason === 'STOP' ? 'tool_calls' : (REASONS[reason] ?? reason));
    report.text = text;
    if (calls.length === 0) return;
    message = calls.map(({ id, name, args }) => {
      const output = answered({ id, name, arguments: args }, report);
      return { functionResponse: { id, name, response: { output } } };
    });
  }
});
