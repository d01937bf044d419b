import { readFileSync } from "node:fs";

export default new WebAssembly.Module(readFileSync(new URL("../wasm/full_bg.wasm", import.meta.url)));
