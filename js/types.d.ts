/** A JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/**
 * A JSON Schema: an object, `true` or `false`, or the JSON text of one. A schema of zod, or of another library that gives its JSON
 * Schema as Standard Schema says, and of the AI SDK's `jsonSchema` is taken too; anything else that is not JSON is a `TypeError`.
 */
export type SchemaLike = object | boolean | string | Schema;

/** A schema that knows the type of its values: one of zod or another library with Standard Schema, or of `jsonSchema<…>()`. */
export type Typed<Input> =
  | { readonly "~standard": { readonly types?: { readonly input: Input; readonly output: unknown } | undefined } }
  | { readonly _type: Input; readonly jsonSchema: unknown };

/**
 * Tools: compiled, definitions of OpenAI, Anthropic, Gemini or MCP, or the JSON text of a list of them. Their schemas may be a
 * library's own, as [SchemaLike] says.
 */
export type ToolsLike = ToolSet | readonly object[] | object | string;

export type RepairClass = "R0" | "R1" | "R2";

/** One edit of the source: what stood at `start` to `end`, `before`, was replaced by `put`. Places are UTF-16 units. */
export interface Repair {
  readonly kind: string;
  readonly repairClass: RepairClass;
  readonly start: number;
  readonly end: number;
  readonly before: string;
  readonly put: string;
}

/** A value that got the type that its schema asks for: at `pointer`, the JSON `before` became `after`. */
export interface Coercion {
  readonly pointer: string;
  readonly before: string;
  readonly after: string;
}

/** A place: `offset` counts UTF-16 units from 0, `line` and `column` from 1. */
export interface Position {
  readonly offset: number;
  readonly line: number;
  readonly column: number;
}

/** One way in which a value does not fit its schema. */
export interface Violation {
  readonly pointer: string;
  readonly keyword: string;
  readonly message: string;
}

/** A call that is right. Where `unsure`, `openEnd` or `unchecked` is true, ask before it runs. */
export declare class Call {
  private constructor();
  readonly kind: "call";
  readonly id: string | null;
  readonly name: string;
  /**
   * The arguments as `JSON.parse` has them; `argumentsJson` keeps the digits of numbers. Throws `RefusedError` where JavaScript
   * has no such number, as of `1e400`.
   */
  get arguments(): { [key: string]: any };
  readonly argumentsJson: string;
  readonly dialect: string;
  readonly start: number;
  readonly end: number;
  readonly repairClass: RepairClass;
  readonly renamedFrom: string | null;
  readonly besideProse: "above" | "below" | "line" | "between" | "sentence" | null;
  readonly unsure: boolean;
  readonly openEnd: boolean;
  /** To hold it against all of the schema would take more work than a check may do. */
  readonly unchecked: boolean;
  /** Places of a native call's repairs are in its own arguments. */
  get repairs(): readonly Repair[];
  get coercions(): readonly Coercion[];
}

/** A call that may not run, and why; `feedback` is what to tell the model, and `position` is a place in `block`. */
export interface Refusal {
  readonly kind: "refusal";
  readonly number: number;
  readonly id: string | null;
  readonly name: string | null;
  readonly dialect: string;
  readonly start: number;
  readonly end: number;
  readonly block: string;
  readonly code: "unknown-tool" | "not-offered" | "unreadable" | "too-long" | "truncated" | "open-end" | "ambiguous" | "shape" | "invalid";
  readonly message: string;
  readonly feedback: string;
  readonly position: Position | null;
  readonly hints: readonly string[];
  readonly fix: string | null;
  readonly fixIsCertain: boolean;
  readonly readings: readonly string[];
  readonly violations: readonly Violation[];
  readonly nearest: readonly string[];
}

/** What looks like a call and is only shown; it is a part of the text. */
export interface Shown {
  readonly name: string | null;
  readonly dialect: string;
  readonly start: number;
  readonly end: number;
  readonly by: string;
  readonly message: string;
}

/** A text was not healed: it has no reading, or more than one. */
export declare class RefusedError extends Error {
  private constructor();
  /** `unsure`: a call may be made as well as shown. `declined`: the model does not answer. Both are of wrapped clients alone. */
  readonly code: "unreadable" | "truncated" | "too-long" | "ambiguous" | "invalid" | "number" | "unsure" | "declined";
  readonly feedback: string;
  readonly position: Position | null;
  readonly hints: readonly string[];
  readonly fix: string | null;
  readonly fixIsCertain: boolean;
  readonly readings: readonly string[];
  readonly violations: readonly Violation[];
  /** What is certain of the text all the same, as `partial` gives it; `null` where it is not one text that was refused. */
  get partial(): PartialValue | null;
}

/** What is certain of a text while it is written. */
export interface PartialValue<Value = any> {
  /** `undefined` while nothing is certain. */
  readonly value: Value | undefined;
  /** JSON pointers of the values that are all there; `""` is the whole. What stands below one of them is not named. */
  readonly complete: readonly string[];
}

/** A call that is being written. */
export interface PartialCall {
  /** The server's id of a native call. */
  readonly id: string | null;
  /** The declared name of its tool. */
  readonly name: string;
  readonly arguments: PartialValue;
}

/** A value whose members may be missing still. */
export type DeepPartial<Value> =
  Value extends readonly (infer Item)[] ? DeepPartial<Item>[]
  : Value extends object ? { [Key in keyof Value]?: DeepPartial<Value[Key]> }
  : Value;

/** A native call: flat, or as OpenAI has it; arguments as text, or as a value. */
export type NativeCall =
  | { id?: string | null; name?: string | null; arguments?: unknown }
  | { id?: string | null; function: { name?: string | null; arguments?: unknown } };

/** What is known about an answer besides its text. */
export interface Options {
  /** Why the model stopped, as its server says it: behind `length` nothing is closed. */
  finishReason?: string;
  /** The server knows tools: only explicit forms are calls. True where there is `native`, even empty. */
  nativeMode?: boolean;
  /** The dialect that the prompt asked for. */
  asked?: string;
  /** The request's `tool_choice`: JSON without a name is a call only where it leaves one tool. */
  toolChoice?: string | object;
  startsInReasoning?: boolean;
  policy?: "auto" | "heal" | "feedback" | "strict";
  callsInReasoning?: "ignore" | "unclosed" | "accept";
  /** Records of own dialects, with the members of `[[dialect]]` in a configuration. */
  dialects?: readonly object[];
  /** The name of the only dialect to look for. */
  only?: string;
  /** What may be quoted rather than made stays text. */
  unsureIsText?: boolean;
  /** What ends too early is refused even where it could be closed. */
  doubtOpenEnds?: boolean;
}

export interface ParseOptions extends Options {
  /** The calls that the server gave apart. */
  native?: Iterable<NativeCall>;
}

export interface ScannerOptions extends Options {
  /** What is certain of a native call goes out before its verdict; of a call in the text nothing does. */
  live?: boolean;
}

export interface HealOptions {
  finishReason?: string;
}

export interface LoadsOptions extends HealOptions {
  /**
   * Which integers are a `bigint`: all (`true`), or those that a number would round (`"auto"`). Without it they are numbers, and
   * are rounded as `JSON.parse` does.
   */
  bigint?: boolean | "auto";
  /** As that of `JSON.parse`, behind `bigint`. */
  reviver?: (this: any, key: string, value: any) => any;
}

interface Compiled {
  /** What nothing is held against, one sentence each. */
  readonly unchecked: readonly string[];
  /** Is all that it demands held against values? */
  readonly isFullyChecked: boolean;
  /** Lets its memory go; what is not freed goes when it is collected. */
  free(): void;
}

/** The tools that a model may call, compiled once. A definition that cannot be used is a `TypeError`. */
export declare class ToolSet implements Compiled {
  constructor(definitions: readonly object[] | object | string);
  readonly names: readonly string[];
  readonly unchecked: readonly string[];
  readonly isFullyChecked: boolean;
  free(): void;
}

/** A JSON Schema, compiled once. */
export declare class Schema implements Compiled {
  constructor(schema: object | boolean | string);
  readonly unchecked: readonly string[];
  readonly isFullyChecked: boolean;
  free(): void;
}

/** A healed text: strict JSON that fits the schema, and what it took. */
export declare class Healed {
  private constructor();
  readonly text: string;
  readonly value: any;
  readonly repairs: readonly Repair[];
  readonly coercions: readonly Coercion[];
  readonly repairClass: RepairClass;
}

/** Everything that one answer came to. */
export declare class Outcome {
  private constructor();
  /** What the model said besides its calls. */
  readonly text: string;
  readonly reasoning: string;
  readonly verdicts: readonly (Call | Refusal)[];
  readonly calls: readonly Call[];
  readonly refusals: readonly Refusal[];
  readonly shown: readonly Shown[];
  /** The line of `callwright parse --json`, whose places are bytes of UTF-8. */
  report(): string;
}

export type Event =
  | { readonly kind: "text-delta"; readonly text: string }
  | { readonly kind: "reasoning-delta"; readonly text: string }
  | { readonly kind: "call-started"; readonly index: number; readonly id: string | null; readonly name: string }
  | { readonly kind: "arguments-delta"; readonly index: number; readonly text: string }
  | Call
  | Refusal;

/** Reads one answer as it arrives. No event is ever taken back, and how the text was cut changes nothing. */
export declare class Scanner {
  constructor(tools: ToolsLike, options?: ScannerOptions);
  feed(text: string): Event[];
  feedReasoning(text: string): Event[];
  /** The next piece of a native call: pieces of one call have one `index`. */
  feedCall(piece: { index: number; id?: string | null; name?: string | null; arguments?: string | null }): Event[];
  finish(finishReason?: string): Event[];
  /**
   * What is certain of the call that is being written, once its name is: of the last native one, or the one in the text; `null`
   * between calls. The call may still be refused, or turn out to be shown: nothing of it may run.
   */
  partial(): PartialCall | null;
  /** Everything that the answer came to, once it has ended. */
  readonly outcome: Outcome;
  /** The same as a stream: pieces of text in, events out. */
  stream(): TransformStream<string, Event>;
  free(): void;
}

/** Makes strict JSON of one text that is meant as JSON; throws `RefusedError` where there is not exactly one reading. */
export declare function heal(text: string, schema?: SchemaLike, options?: HealOptions): Healed;

/**
 * `JSON.parse` that reads what is broken in one way only, and refuses the rest, as well as a number that JavaScript has not,
 * `1e400`.
 */
export declare function loads<Input>(text: string, schema: Typed<Input>, options?: HealOptions): Input;
export declare function loads(text: string, schema?: SchemaLike, options?: LoadsOptions): any;

/**
 * What is certain of a text while it is written: `value` only grows with the text, and holds nothing that a later piece could
 * take back. Throws nothing, whatever the text. With a `finishReason` the text has ended, and what can be read is the whole.
 */
export declare function partial<Input>(text: string, schema: Typed<Input>, options?: HealOptions): PartialValue<DeepPartial<Input>>;
export declare function partial(text: string, schema?: SchemaLike, options?: HealOptions): PartialValue;

/** Finds the calls in one whole answer. What a model wrote throws nothing: broken calls are refusals. */
export declare function parse(text: string, tools: ToolsLike, options?: ParseOptions): Outcome;

/** Does this reason say that the answer ended before the model had said all? */
export declare function isCut(finishReason: string | null | undefined): boolean;

/** The bytes that the module takes for its memory. */
export declare function memory(): number;
