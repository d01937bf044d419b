// What the package offers, over one module of WebAssembly: strings and JSON cross to it, plain objects come back.

/** A text was not healed: it has no reading, or more than one. */
export class RefusedError extends Error {
  // Asked for by few, and it takes another reading.
  #partial;

  constructor(refusal, partial = () => null) {
    super(refusal.message);
    this.#partial = partial;
    this.name = "RefusedError";
    const { code, feedback, position, hints, fix, fixIsCertain, readings, violations } = refusal;
    Object.assign(this, { code, feedback, position, hints, fix, fixIsCertain, readings, violations });
  }

  get partial() {
    return this.#partial();
  }
}

/** How a number ends that may be beyond what JavaScript has: an exponent of two digits, or hundreds of digits. */
const LARGE = /\d[eE]\+?\d\d|\d{300}/;

/** A string of a JSON text, or a number. */
const SCALAR = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/** An integer as JSON writes one. */
const INTEGER = /^-?\d+$/;

/** Calls `of` for each member of a container, what is inside before it; what it gives takes the member's place. */
const walk = (holder, key, of) => {
  const value = holder[key];
  if (typeof value === "object" && value !== null) {
    for (const inner of Object.keys(value)) {
      const made = walk(value, inner, of);
      if (made === undefined) delete value[inner];
      // An assignment to `__proto__` makes no member.
      else Object.defineProperty(value, inner, { value: made, configurable: true, enumerable: true, writable: true });
    }
  }
  return of(holder, key, value);
};

/** Puts integers into `value` as `BigInt`; `digits` is the same value, in which they are strings. */
const widened = (value, digits) => {
  if (typeof value === "number" && typeof digits === "string") return BigInt(digits);
  if (typeof value !== "object" || value === null) return value;
  for (const key of Object.keys(value)) {
    const made = widened(value[key], digits[key]);
    if (typeof made === "bigint") value[key] = made;
  }
  return value;
};

/** What a caller may ask of numbers. */
const BIGINT = [undefined, false, true, "auto"];

/** The value of a JSON text, as `bigint` and `reviver` of the options say. */
const valueOf = (text, { bigint, reviver } = {}) => {
  if (!BIGINT.includes(bigint)) throw new TypeError('bigint is true, false or "auto"');
  if (reviver !== undefined && typeof reviver !== "function") throw new TypeError("a reviver is a function");
  let value = JSON.parse(text);
  if (bigint) {
    const isWide = (scalar) => INTEGER.test(scalar) && (bigint === true || !Number.isSafeInteger(Number(scalar)));
    value = widened(value, JSON.parse(text.replace(SCALAR, (scalar) => (isWide(scalar) ? `"${scalar}"` : scalar))));
  }
  finite(value, text);
  return reviver ? walk({ "": value }, "", (holder, key, inner) => reviver.call(holder, key, inner)) : value;
};

/** Refuses what no text says: of `1e400` `JSON.parse` makes `Infinity`. */
const finite = (value, text) => {
  const open = LARGE.test(text) ? [value] : [];
  while (open.length > 0) {
    const inner = open.pop();
    if (inner === Infinity || inner === -Infinity) {
      const message = "JavaScript has no such number: it is beyond what a number can hold";
      const feedback = JSON.stringify({ error: message });
      const nothing = { position: null, hints: [], fix: null, fixIsCertain: false, readings: [], violations: [] };
      throw new RefusedError({ message, code: "number", feedback, ...nothing });
    }
    if (typeof inner === "object" && inner !== null) for (const key of Object.keys(inner)) open.push(inner[key]);
  }
};

/** What was done about a text or a call, from what the module tells without names. */
const edits = ([repairs, coercions]) => ({
  repairs: repairs.map(([kind, repairClass, start, end, before, put]) => ({ kind, repairClass, start, end, before, put })),
  coercions: coercions.map(([pointer, before, after]) => ({ pointer, before, after })),
});

/** A call that is right. */
export class Call {
  #arguments;
  // JSON, until somebody asks: most of what a repaired call has to tell, and its callers mostly run it.
  #edits;

  constructor([id, name, argumentsJson, dialect, start, end, repairClass, renamedFrom, besideProse, unsure, openEnd, unchecked], edits) {
    this.kind = "call";
    this.id = id;
    this.name = name;
    this.argumentsJson = argumentsJson;
    this.dialect = dialect;
    this.start = start;
    this.end = end;
    this.repairClass = repairClass;
    this.renamedFrom = renamedFrom;
    this.besideProse = besideProse;
    this.unsure = unsure;
    this.openEnd = openEnd;
    this.unchecked = unchecked;
    this.#edits = edits;
  }

  get arguments() {
    return (this.#arguments ??= valueOf(this.argumentsJson));
  }

  get repairs() {
    return this.#done.repairs;
  }

  get coercions() {
    return this.#done.coercions;
  }

  get #done() {
    if (typeof this.#edits === "string") this.#edits = edits(JSON.parse(this.#edits));
    return this.#edits;
  }

  toJSON() {
    return { ...this, ...this.#done };
  }
}

/** What the module told, a line of JSON and one for each call in it, with what makes of its verdicts, in order, what callers get. */
const heard = (told) => {
  const lines = told.split("\n");
  let n = 0;
  const verdict = (told) => (Array.isArray(told) ? new Call(told, lines[++n]) : told);
  return [JSON.parse(lines[0]), verdict];
};

/** Everything that one answer came to. */
export class Outcome {
  #report;

  constructor(lines, report) {
    const [[text, reasoning, verdicts, shown], verdict] = heard(lines);
    this.text = text;
    this.reasoning = reasoning;
    this.verdicts = verdicts.map(verdict);
    this.shown = shown;
    this.#report = report;
  }

  get calls() {
    return this.verdicts.filter(({ kind }) => kind === "call");
  }

  get refusals() {
    return this.verdicts.filter(({ kind }) => kind === "refusal");
  }

  report() {
    return this.#report();
  }
}

/** The mark by which the AI SDK knows its own schemas. */
const AI_SDK = Symbol.for("vercel.ai.schema");

/** Whether this is an object as `{…}` makes it, in any realm. */
const isPlain = (value) => {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
};

/** The JSON Schema of a schema: of a library's own as that library gives it, anything else only if it is JSON. */
export const jsonSchema = (schema) => {
  if (schema === null || !["object", "function"].includes(typeof schema)) return schema;
  const standard = schema["~standard"];
  const given = standard ? standard.jsonSchema?.input({ target: "draft-2020-12" }) : AI_SDK in schema ? schema.jsonSchema : schema;
  const from = standard ? `${standard.vendor} gives no JSON Schema of it` : "it is not JSON";
  if (!isPlain(given)) throw new TypeError(`this schema cannot be used: ${from}`);
  return given;
};

/** The members of a definition that hold a schema, and those that hold definitions. */
const SCHEMAS = ["parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema"];
const DEFINITIONS = ["function", "functionDeclarations", "function_declarations", "tools", "result"];

/** A definition, or a list of them, with its schemas as JSON. What is in a schema or beside it stays as it is. */
const plainTools = (tools) => {
  if (Array.isArray(tools)) return tools.map(plainTools);
  if (typeof tools !== "object" || tools === null || typeof tools.toJSON === "function") return tools;
  const plain = { ...tools };
  for (const key of SCHEMAS) if (key in plain) plain[key] = jsonSchema(plain[key]);
  for (const key of DEFINITIONS) if (key in plain) plain[key] = plainTools(plain[key]);
  return plain;
};

/** The JSON text of tools: a text as it is, anything else as `JSON.stringify` has it. */
const toolsOf = (tools) => (typeof tools === "string" ? tools : JSON.stringify(plainTools(tools)));

/** The JSON text of a schema. */
const schemaOf = (schema) => (typeof schema === "string" ? schema : JSON.stringify(jsonSchema(schema)));

/** What is compiled stays, and what its owner may change later is kept as it is now. */
const asItIs = (Kept, given, textOf) => (given === undefined || given instanceof Kept ? given : textOf(given));

/** What the module tells of a value: a member that is not there says that nothing is certain, which `null` does not. */
const certain = ({ value, complete }) => ({ value, complete });

/** What a module says about its callers' mistakes. */
const checked = (work) => {
  try {
    return work();
  } catch (error) {
    throw typeof error === "string" ? new TypeError(error) : error;
  }
};

/** The options as the module takes them: what is not said is not there. */
const spelt = (options) => {
  if (!options) return NOTHING;
  const { native, ...others } = options;
  if (native) others.native = Array.from(native, nativeCall);
  return encoder.encode(JSON.stringify(others));
};

/** A native call as servers and their clients have it: flat, or with a `function`; arguments as text or as a value. */
const nativeCall = (call) => {
  const { name, arguments: given } = call.function ?? call;
  return {
    id: call.id ?? null,
    name: name ?? "",
    arguments: typeof given === "string" ? given : given == null ? "" : JSON.stringify(given),
  };
};

/** What holds memory of the module, if it was not let go. */
const unfreed = (handle) => {
  if (handle === undefined) throw new TypeError("this was freed");
  return handle;
};

const encoder = new TextEncoder();
const NOTHING = new Uint8Array();
/** The longest text whose bytes have a place that is used again. */
const SHORT = 1 << 16;
const scratch = new Uint8Array(3 * SHORT);

/** The bytes of a text, until the next one is asked for. */
const bytes = (text) => {
  if (typeof text !== "string") throw new TypeError(`a text is expected, not ${text === null ? "null" : typeof text}`);
  if (SHORT < text.length) return encoder.encode(text);
  return scratch.subarray(0, encoder.encodeInto(text, scratch).written);
};

/** Everything that the package offers, over `wasm` and the module that it is to speak to. */
export const door = (wasm, module) => {
  const exported = wasm.initSync({ module });

  /** Hands what is compiled to `use`; what was not given compiled is let go afterwards, and stays in the module's cache. */
  const compiled = (Kept, given, use) => {
    if (given instanceof Kept) return use(given.handle);
    const kept = new Kept(given);
    try {
      return use(kept.handle);
    } finally {
      kept.free();
    }
  };

  class Kept {
    #handle;

    constructor(handle) {
      this.#handle = handle;
    }

    get handle() {
      return unfreed(this.#handle);
    }

    get unchecked() {
      return JSON.parse(this.handle.unchecked());
    }

    get isFullyChecked() {
      return this.handle.is_fully_checked();
    }

    free() {
      this.#handle?.free();
      this.#handle = undefined;
    }

    [Symbol.dispose ?? Symbol.for("Symbol.dispose")]() {
      this.free();
    }
  }

  /** The tools that a model may call, compiled once. */
  class ToolSet extends Kept {
    constructor(definitions) {
      super(checked(() => new wasm.Tools(bytes(toolsOf(definitions)))));
    }

    get names() {
      return JSON.parse(this.handle.names());
    }
  }

  /** A JSON Schema, compiled once. */
  class Schema extends Kept {
    constructor(schema) {
      super(checked(() => new wasm.Schema(bytes(schemaOf(schema)))));
    }
  }

  /** Runs `heal` or `healing` of a schema, or of the module where there is none. */
  const ask = (what, text, schema, finishReason) =>
    schema === undefined
      ? wasm[what](bytes(text), finishReason)
      : compiled(Schema, schema, (handle) => handle[what](bytes(text), finishReason));

  const read = (text, schema, options) => {
    try {
      // What is right as it is does not cross twice.
      return ask("heal", text, schema, options?.finishReason) ?? text;
    } catch (error) {
      if (typeof error !== "string") throw error;
      throw new RefusedError(JSON.parse(error), () => partial(text, schema));
    }
  };

  /** A healed text: strict JSON that fits the schema, and what it took. */
  class Healed {
    #source;
    #value;
    #healing;

    constructor(text, source) {
      this.text = text;
      this.#source = source;
    }

    get value() {
      return (this.#value ??= { is: valueOf(this.text) }).is;
    }

    get repairs() {
      return this.#told.edits.repairs;
    }

    get coercions() {
      return this.#told.edits.coercions;
    }

    get repairClass() {
      return this.#told.repairClass;
    }

    // Reading is pure: what it took is asked for again only by those who want to know.
    get #told() {
      const { text, schema, options } = this.#source;
      if (this.#healing) return this.#healing;
      const told = JSON.parse(ask("healing", text, schema, options?.finishReason));
      return (this.#healing = { ...told, edits: edits(told.edits) });
    }
  }

  const heal = (text, given, options) => {
    const schema = asItIs(Schema, given, schemaOf);
    return new Healed(read(text, schema, options), { text, schema, options });
  };

  const loads = (text, schema, options) => valueOf(read(text, schema, options), options);

  /** What is certain of a text while it is written. */
  const partial = (text, schema, options) => certain(JSON.parse(ask("partial", text, schema, options?.finishReason)));

  const parse = (text, given, options) => {
    const said = spelt(options);
    const tools = asItIs(ToolSet, given, toolsOf);
    const told = compiled(ToolSet, tools, (handle) => checked(() => handle.parse(bytes(text), said)));
    return new Outcome(told, () => compiled(ToolSet, tools, (handle) => handle.report(bytes(text), said)));
  };

  /** Reads one answer as it arrives. */
  class Scanner {
    #scanner;
    // The first half of a pair of units whose second one is in the next piece.
    #half = "";

    constructor(tools, options) {
      const said = spelt(options);
      this.#scanner = compiled(ToolSet, tools, (handle) => checked(() => new wasm.Scanner(handle, said)));
    }

    feed(text) {
      let piece = this.#half + text;
      const last = piece.charCodeAt(piece.length - 1);
      this.#half = 0xd800 <= last && last < 0xdc00 ? piece.slice(-1) : "";
      if (this.#half) piece = piece.slice(0, -1);
      return this.#events(() => unfreed(this.#scanner).feed(bytes(piece)));
    }

    feedReasoning(text) {
      return this.#events(() => unfreed(this.#scanner).feed_reasoning(bytes(text)));
    }

    feedCall({ index, id, name, arguments: piece }) {
      return this.#events(() => unfreed(this.#scanner).feed_call(index, id ?? undefined, name ?? undefined, piece ?? undefined));
    }

    finish(finishReason) {
      const rest = this.#half ? this.#events(() => unfreed(this.#scanner).feed(bytes(this.#half))) : [];
      this.#half = "";
      return rest.concat(this.#events(() => unfreed(this.#scanner).finish(finishReason)));
    }

    partial() {
      const told = unfreed(this.#scanner).partial();
      if (told === undefined) return null;
      const { id, name, arguments: written } = JSON.parse(told);
      return { id, name, arguments: certain(written) };
    }

    get outcome() {
      const told = unfreed(this.#scanner).outcome();
      if (told === undefined) throw new TypeError("the answer has not ended: call `finish` first");
      return new Outcome(told, () => unfreed(this.#scanner).report());
    }

    /** The same as a stream: pieces of text in, events out. */
    stream() {
      const emit = (events, controller) => events.forEach((event) => controller.enqueue(event));
      return new TransformStream({
        transform: (piece, controller) => emit(this.feed(piece), controller),
        flush: (controller) => emit(this.finish(), controller),
      });
    }

    free() {
      this.#scanner?.free();
      this.#scanner = undefined;
    }

    [Symbol.dispose ?? Symbol.for("Symbol.dispose")]() {
      this.free();
    }

    #events(work) {
      const told = checked(work);
      if (told === undefined) return [];
      const [events, verdict] = heard(told);
      return events.map(verdict);
    }
  }

  const isCut = (finishReason) => finishReason != null && wasm.is_cut(finishReason);

  /** The bytes that the module takes for its memory. */
  const memory = () => exported.memory.buffer.byteLength;

  return { heal, loads, partial, parse, isCut, memory, ToolSet, Schema, Scanner, Healed };
};
