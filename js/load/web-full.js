const response = await fetch(new URL("../wasm/full_bg.wasm", import.meta.url));

export default await WebAssembly.compile(await response.arrayBuffer());
