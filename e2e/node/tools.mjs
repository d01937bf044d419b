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
