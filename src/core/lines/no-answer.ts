const NO_ANSWER = Symbol.for('trunkline.NoAnswer')

/** A server gave no answer, or an unreadable one. */
export class NoAnswer extends Error {
  readonly [NO_ANSWER] = true

  /** By name, because an external driver may use its own copy of this class. */
  static override [Symbol.hasInstance](error: unknown): boolean {
    return typeof error === 'object' && error !== null && NO_ANSWER in error
  }

  constructor(
    message: string,
    /** Whether the request may have reached the server. If not, repeating it is safe. */
    readonly left: boolean,
  ) {
    super(message)
  }
}
