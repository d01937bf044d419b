// Workers compile a module when they are deployed, and hand it over.
import module from "../wasm/full_bg.wasm";

export default module;
