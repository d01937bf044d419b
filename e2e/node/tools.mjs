// The tools of all Node clients: a description, the parameters, and a function that really runs.
import { z } from 'zod';

export const TOOLS = {
  get_weather: {
    description: 'Get the current weather of a city.',
    parameters: z.object({ city: z.string() }),
    execute: ({ city }) => `It is 18 degrees and sunny in ${city}.`,
  },
  add_numbers: {
    description: 'Add two numbers.',
    parameters: z.object({ a: z.int(), b: z.int() }),
    execute: ({ a, b }) => String(a + b),
  },
  echo: {
    description: 'Say a text back.',
    parameters: z.object({ text: z.string() }),
    execute: ({ text }) => text,
  },
};

/** What a client holds to be the arguments: null where the text is not JSON. */
export function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Runs one call {id, name, arguments}, and returns what goes back to the model. */
export function answered(call, report) {
  report.calls.push(call);
  let content;
  try {
    const { parameters, execute } = TOOLS[call.name];
    content = execute(parameters.parse(call.arguments));
  } catch (error) {
    content = `error: ${error}`;
    report.errors.push(`${call.name}(${JSON.stringify(call.arguments)}): ${error}`);
  }
  report.results.push({ id: call.id, content });
  return content;
}
