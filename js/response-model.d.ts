export interface WrapOptions {
  /** How often the model is asked again about one answer, at most: 2. */
  maxCorrections?: number;
}

/** A schema whose values have a type: of zod or another library with Standard Schema, or of `jsonSchema<…>()`. */
export type ResponseModel<Output> =
  | { readonly "~standard": { readonly types?: { readonly input: unknown; readonly output: Output } | undefined } }
  | { readonly _type: Output; readonly jsonSchema: unknown };
