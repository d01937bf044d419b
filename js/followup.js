// What a client says to a model whose answer is wrong, and what it throws where the model does not get it right.

import { RefusedError } from "./api.js";

/** What a call is answered with that is right, beside one that is not. */
export const NOT_RUN = "Not run: another call of the same message is wrong. Make all of them again.";

/** Whether the model has to be asked again: a call is refused, or it may be made as well as shown. */
export const isWrong = (outcome) => 0 < outcome.refusals.length || 0 < unsure(outcome).length;

/** What to ask about calls that may be made as well as shown; `null` where there are none. */
export const confirmation = (outcome) => {
  const names = unsure(outcome).flatMap(({ name }) => (name === null ? [] : [name]));
  if (unsure(outcome).length === 0) return null;
  const what = names.length === 1 ? `a call of the tool ${names[0]}` : `calls (${names.join(", ")})`;
  return (
    `Your answer holds ${what} in the middle of prose. Nothing was run. If that is meant, send it alone, with no words around it. ` +
    "If you only show it, say so, and make no call"
  );
};

/** The error for the first thing that is wrong with an answer. */
export const errorOf = (outcome) => {
  const [first] = outcome.refusals;
  if (first) return new RefusedError(first);
  const message = "a call stands in the middle of prose: it may be made as well as shown";
  return refused("unsure", message, confirmation(outcome));
};

/** An error that no text of the model alone can tell. */
export const refused = (code, message, feedback, violations = []) =>
  new RefusedError({ message, code, feedback, position: null, hints: [], fix: null, fixIsCertain: false, readings: [], violations });

/** What stands for broken arguments in a history: many servers read them as JSON, and answer nothing where they cannot. */
export const readableArguments = (text) => {
  try {
    const value = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return text;
  } catch {
    // It is what was refused.
  }
  return JSON.stringify({ unreadable_arguments: text });
};

/** What several answers took together: the sum of all numbers that both have, and what only one has. */
export const summed = (first, second) => {
  if (typeof first === "number" && typeof second === "number") return first + second;
  if (typeof first !== "object" || first === null || typeof second !== "object" || second === null) return second ?? first;
  const keys = new Set([...Object.keys(first), ...Object.keys(second)]);
  return Object.fromEntries([...keys].map((key) => [key, summed(first[key], second[key])]));
};

/** A whole number of corrections, or the mistake of who gives another. */
export const corrections = (most) => {
  if (!Number.isInteger(most) || most < 0) throw new TypeError("maxCorrections is a whole number, 0 or more");
  return most;
};

const unsure = ({ shown }) => shown.filter(({ by }) => by === "unsure");
