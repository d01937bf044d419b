// The door of all Node clients: one task per line of standard input, one report per line of standard output.
//
// A task: {base_url, model, ask, tools: [names], stream, turns: at most, max_tokens: per turn}
// What a client throws is in the report; nothing but reports goes to standard output.
import { createInterface } from 'node:readline';

export async function serve(run) {
  for await (const line of createInterface({ input: process.stdin })) {
    const report = {
      calls: [], // {id, name, arguments: what the client parsed, or null}
      results: [], // {id, content: what the tool returned}
      text: '', // of the last turn
      finish: [], // the finish reason of each turn
      errors: [], // whatever a program in the client's place would have had to deal with
    };
    try {
      await run(JSON.parse(line), report);
    } catch (error) {
      report.errors.push(String(error));
    }
    process.stdout.write(`${JSON.stringify(report)}\n`);
  }
}
