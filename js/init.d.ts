import type * as callwright from "./types.js";

export * from "./types.js";

/** The package over a module that the caller has loaded: `callwright/callwright.wasm`, compiled or as bytes. */
export declare function init(module: WebAssembly.Module | BufferSource): {
  heal: typeof callwright.heal;
  loads: typeof callwright.loads;
  partial: typeof callwright.partial;
  parse: typeof callwright.parse;
  isCut: typeof callwright.isCut;
  memory: typeof callwright.memory;
  ToolSet: typeof callwright.ToolSet;
  Schema: typeof callwright.Schema;
  Scanner: typeof callwright.Scanner;
  Healed: typeof callwright.Healed;
};
