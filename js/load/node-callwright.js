import { readFileSync } from "node:fs";

export default new WebAssembly.Module(readFileSync(new URL("../wasm/callwright_bg.wasm", import.meta.url)));
