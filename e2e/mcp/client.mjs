// Speaks to `callwright mcp`, whose path is the argument, with the official client. Prints one line of JSON.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const client = new Client({ name: "callwright-e2e", version: "1" });
await client.connect(new StdioClientTransport({ command: process.argv[2], args: ["mcp"] }));

const tools = [
  {
    type: "function",
    function: {
      name: "run_code",
      parameters: { type: "object", required: ["code"], properties: { code: { type: "string" } } },
    },
  },
];
const call = async (name, args) => {
  const result = await client.callTool({ name, arguments: args });
  return { isError: result.isError ?? false, structured: result.structuredContent, text: result.content[0]?.text };
};
const broken = '{"tool": "run_code", "arguments": {"code": "print("hello world")"}}}';
const report = {
  server: client.getServerVersion(),
  listed: (await client.listTools()).tools.map((tool) => tool.name),
  repaired: await call("repair_tool_call", { text: broken, tools }),
  refused: await call("repair_tool_call", { text: broken.slice(0, 50), tools, finish_reason: "length" }),
  diagnosed: await call("diagnose", { text: '{"a": 1}}' }),
  wrong: await call("repair_tool_call", { text: 5 }),
};
console.log(JSON.stringify(report));
await client.close();
