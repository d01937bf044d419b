// The server `everything` over streamable HTTP, on a port that is free. Prints its address when it listens.
import net from "node:net";

const free = net.createServer();
await new Promise((resolve) => free.listen(0, "127.0.0.1", resolve));
const { port } = free.address();
await new Promise((resolve) => free.close(resolve));

process.env.PORT = String(port);
await import("@modelcontextprotocol/server-everything/dist/transports/streamableHttp.js");

const listens = () =>
  new Promise((resolve) => {
    const socket = net.connect(port, "127.0.0.1");
    socket.once("connect", () => socket.end(() => resolve(true)));
    socket.once("error", () => resolve(false));
  });
while (!(await listens())) {
  await new Promise((resolve) => setTimeout(resolve, 20));
}
console.log(`listening on http://127.0.0.1:${port}`);
