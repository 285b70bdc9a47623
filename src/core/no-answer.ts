/** A server gave no answer, or one that could not be read. */
export class NoAnswer extends Error {
  constructor(
    message: string,
    /** Whether the server may have had the request: if not, asking again is safe. */
    readonly left: boolean,
  ) {
    super(message)
  }
}
