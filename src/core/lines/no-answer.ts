const NO_ANSWER = Symbol.for('trunkline.NoAnswer')

/** A server gave no answer, or one that could not be read. */
export class NoAnswer extends Error {
  readonly [NO_ANSWER] = true

  /** A driver from elsewhere may ask with a copy of this class. */
  static override [Symbol.hasInstance](error: unknown): boolean {
    return typeof error === 'object' && error !== null && NO_ANSWER in error
  }

  constructor(
    message: string,
    /** Whether the server may have had the request: if not, asking again is safe. */
    readonly left: boolean,
  ) {
    super(message)
  }
}
