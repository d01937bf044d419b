const response = await fetch(new URL("../wasm/callwright_bg.wasm", import.meta.url));

export default await WebAssembly.compile(await response.arrayBuffer());
