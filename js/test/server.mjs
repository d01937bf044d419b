// A server that says what it is told to, one answer after another, and keeps what it was asked.
import { createServer } from "node:http";

/** Starts one; `answers` are objects as JSON, or lists of events as a stream. */
export const scripted = async (answers, run) => {
  const asked = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    const answer = answers[Math.min(asked.length, answers.length - 1)];
    asked.push(JSON.parse(body));
    if (!Array.isArray(answer)) {
      response.writeHead(200, { "content-type": "application/json", "x-request-id": `r${asked.length}` });
      response.end(JSON.stringify(answer));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of answer) response.write(`${event.type ? `event: ${event.type}\n` : ""}data: ${JSON.stringify(event)}\n\n`);
    response.end(answer.some(({ type }) => type) ? "" : "data: [DONE]\n\n");
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  try {
    return await run(`http://127.0.0.1:${server.address().port}`, asked);
  } finally {
    server.closeAllConnections();
    server.close();
  }
};
