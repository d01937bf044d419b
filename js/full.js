import * as wasm from "./wasm/full.js";
import { door } from "./api.js";
import module from "#full.wasm";

export { Call, Outcome, RefusedError } from "./api.js";
export const { heal, loads, partial, parse, isCut, memory, ToolSet, Schema, Scanner, Healed } = door(wasm, module);
