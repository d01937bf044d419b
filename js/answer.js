// What the methods of an official client give: a promise of the data, which also tells the response.

/** `work` promises `{ data, response, request_id }`. */
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
