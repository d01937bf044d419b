// What each loop has: a shell, a file that is written, and the end: what the agent said, or an error and exit code 1.
// A loop is told KIND … URL MODEL ASK, works in its folder, and does everything else by its package's defaults.
import { execSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';

export const SYSTEM = 'You are an agent.';

export const TOOLS = {
  run_command: {
    description: 'Run a shell command.',
    execute: ({ command, timeout = 30 }) => execSync(command, { shell: '/bin/sh', timeout: timeout * 1000 }).toString() || 'ok',
  },
  write_file: {
    description: 'Write a text file.',
    execute: ({ path, content }) => {
      writeFileSync(path, content);
      return 'ok';
    },
  },
};

/** What the tools take, as the package `zod` says it. */
export function schemas(z) {
  return {
    run_command: z.object({ command: z.string(), timeout: z.number().int().optional() }),
    write_file: z.object({ path: z.string(), content: z.string() }),
  };
}

/** Runs `loop(kind, url, model, ask)` and prints what it resolves to. */
export async function main(loop) {
  const words = process.argv.slice(2);
  const [url, model, ask] = words.splice(-3);
  // An error that nobody waits for is not the loop's end.
  process.on('unhandledRejection', () => {});
  try {
    console.log(await loop(words, url, model, ask));
    process.exit(0);
  } catch (error) {
    console.error(error);
    process.exit(1);
  }
}
