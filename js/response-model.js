// The schema that an answer is to have: what is sent of it, and the value that a text comes to.

import { jsonSchema } from "./api.js";
import { refused } from "./followup.js";
import { RefusedError, Schema, loads, partial } from "./index.js";

/**
 * What `responseModel` names: a schema of zod or another library with Standard Schema, of the AI SDK, or JSON Schema. APIs take
 * schemas of objects alone, so that any other one is sent as that of an object with the one member `value`.
 */
export class ResponseModel {
  #source;
  #alone;
  #sent;
  #isInValue;

  constructor(source) {
    this.#source = source;
    const schema = jsonSchema(typeof source === "string" ? JSON.parse(source) : source);
    if (typeof schema !== "object" || schema === null) throw new TypeError("a responseModel is a schema");
    this.#isInValue = schema.type !== "object";
    this.schema = this.#isInValue ? inValue(schema) : schema;
    this.name = typeof schema.title === "string" ? schema.title.replace(/[^a-zA-Z0-9_-]+/g, "_").slice(0, 64) : "answer";
    this.#sent = new Schema(this.schema);
    this.#alone = this.#isInValue ? new Schema(schema) : null;
  }

  /** The value that `text` says; throws `RefusedError` where it has not exactly one reading that fits. */
  async read(text, finishReason) {
    const value = this.#value(text, { finishReason });
    const standard = this.#source?.["~standard"];
    if (standard) {
      const { issues, value: made } = await standard.validate(value);
      if (issues) throw invalid(issues);
      return made;
    }
    if (typeof this.#source?.validate !== "function") return value;
    const checked = await this.#source.validate(value);
    if (!checked.success) throw invalid([checked.error]);
    return checked.value;
  }

  /** What is certain of `text` while it is written. */
  soFar(text) {
    const { value, complete } = partial(text, this.#sent);
    if (!this.#isInValue) return { value, complete };
    const inner = complete.flatMap((pointer) =>
      pointer === "" ? [""]
      : pointer.startsWith("/value") ? [pointer.slice("/value".length)]
      : [],
    );
    return { value: value?.value, complete: inner };
  }

  #value(text, options) {
    try {
      const value = loads(text, this.#sent, options);
      return this.#isInValue ? value.value : value;
    } catch (error) {
      if (!this.#isInValue || !(error instanceof RefusedError)) throw error;
      // A server that does not hold its model to the schema: the value may stand alone.
      try {
        return loads(text, this.#alone, options);
      } catch {
        throw error;
      }
    }
  }
}

const inValue = ({ $defs, definitions, $schema, ...value }) => ({
  ...($schema ? { $schema } : {}),
  type: "object",
  properties: { value },
  required: ["value"],
  additionalProperties: false,
  // References lead from the root.
  ...($defs ? { $defs } : {}),
  ...(definitions ? { definitions } : {}),
});

/** What a schema of its own library finds wrong, as a refusal. */
const invalid = (issues) => {
  const violations = issues.map(({ message, path = [] }) => {
    const keys = path.map((key) => String(typeof key === "object" && key !== null ? key.key : key));
    const pointer = keys.map((key) => `/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
    return { pointer, keyword: "validate", message: keys.length === 0 ? message : `${keys.join(".")}: ${message}` };
  });
  const message = violations.map(({ message }) => message).join("; ");
  return refused("invalid", message, JSON.stringify({ error: message }), violations);
};
