import * as wasm from "./wasm/callwright.js";
import { door } from "./api.js";

export { Call, Outcome, RefusedError } from "./api.js";

/** The package over a module that the caller has loaded: `callwright/callwright.wasm`, compiled or as bytes. */
export const init = (module) => door(wasm, module);
