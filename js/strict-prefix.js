// How much of a JSON text, while it is written, may go out.

/** What a string holds, without the half of an escape at its end. */
const CONTENT = /(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y;
const BLANKS = /[ \t\n\r]*/y;
const SCALAR = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?=[ \t\n\r,\]}])/y;

/** The start of a text that is strict JSON, as long as it is, and that no repair of what follows would change. */
export class StrictPrefix {
  #text = "";
  #at = 0;
  #given = 0;
  /** The open brackets. */
  #open = [];
  #isInString = false;
  /** What may come next: `value`, `first` (or an end), `key`, `colon`, `next` (a comma or an end), `nothing`. */
  #expects = "value";

  /** Takes the next piece; returns what is certain by it. */
  feed(piece) {
    this.#text += piece;
    let certain = this.#given;
    while (this.#expects !== "nothing") {
      if (this.#isInString) {
        this.#at = end(CONTENT, this.#text, this.#at);
        certain = this.#at;
        // A quote may end the string or stand in it: what comes behind tells.
        if (this.#text[this.#at] !== '"') break;
        this.#at += 1;
        this.#isInString = false;
        this.#expects = this.#expects === "colon" ? "colon" : "next";
      }
      this.#at = end(BLANKS, this.#text, this.#at);
      if (this.#text.length === this.#at) break;
      const start = this.#at;
      if (!this.#step()) break;
      certain = this.#isInString || OPENERS.has(this.#text[start]) ? this.#at : start;
    }
    const given = this.#text.slice(this.#given, certain);
    this.#given = Math.max(this.#given, certain);
    return given;
  }

  /** Takes the token that begins here; false where it is not there yet, or may not stand here. */
  #step() {
    const sign = this.#text[this.#at];
    const isValue = this.#expects === "value" || (this.#expects === "first" && this.#open.at(-1) === "]");
    const isKey = this.#expects === "key" || (this.#expects === "first" && this.#open.at(-1) === "}");
    const mayEnd = this.#expects === "first" || this.#expects === "next";
    if (OPENERS.has(sign) && isValue) {
      this.#open.push(OPENERS.get(sign));
      this.#expects = "first";
    } else if (sign === '"' && (isValue || isKey)) {
      this.#isInString = true;
      this.#expects = isKey ? "colon" : "next";
    } else if (sign === this.#open.at(-1) && mayEnd) {
      this.#open.pop();
      this.#expects = this.#open.length === 0 ? "nothing" : "next";
    } else if (sign === "," && this.#expects === "next") {
      this.#expects = this.#open.at(-1) === "}" ? "key" : "value";
    } else if (sign === ":" && this.#expects === "colon") {
      this.#expects = "value";
    } else if (isValue && this.#at < end(SCALAR, this.#text, this.#at)) {
      this.#at = end(SCALAR, this.#text, this.#at);
      this.#expects = "next";
      return true;
    } else {
      return false;
    }
    this.#at += 1;
    return true;
  }
}

const OPENERS = new Map([
  ["{", "}"],
  ["[", "]"],
]);

/** Where what `pattern` matches at `at` ends. */
const end = (pattern, text, at) => {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
};
