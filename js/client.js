// What wrapped clients have in common: a client with members of its own, and what its methods give.

/**
 * A client that has the members that `own` makes of it, and else is `client`, over the same connections. Its methods run on
 * `client`: they use private members, which nothing that stands for it has.
 */
export const over = (client, own) => {
  const members = new Map();
  const made = new Proxy(client, {
    get(target, key) {
      if (members.has(key)) return members.get(key);
      const value = Reflect.get(target, key, target);
      return typeof value === "function" && key !== "constructor" ? value.bind(target) : value;
    },
  });
  for (const [key, member] of Object.entries(own(made))) members.set(key, member);
  return made;
};

/** A promise of the data, which also tells the response: `work` promises `{ data, response, request_id }`. */
export class Answer extends Promise {
  #work;

  constructor(work) {
    // What awaits this is told by `work`; an own rejection would be one that nobody handles.
    super((resolve) => resolve(null));
    this.#work = work;
  }

  static get [Symbol.species]() {
    return Promise;
  }

  then(done, failed) {
    return this.#work.then(({ data }) => data).then(done, failed);
  }

  catch(failed) {
    return this.then(undefined, failed);
  }

  finally(done) {
    return this.then(
      async (value) => (await done?.(), value),
      async (error) => {
        await done?.();
        throw error;
      },
    );
  }

  withResponse() {
    return this.#work;
  }

  async asResponse() {
    return (await this.#work).response;
  }

  // The clients' own helpers stand on it.
  _thenUnwrap(change) {
    return new Answer(this.#work.then((told) => ({ ...told, data: change(told.data) })));
  }
}
