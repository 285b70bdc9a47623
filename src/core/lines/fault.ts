/** Why a line did not perform a requested action. */
export type LineFaultCode =
  /** The target does not exist: no such chat, message or group. */
  | 'not_found'
  /** The action needs an existing conversation. */
  | 'no_chat'
  /** The action works with iMessage users only, and the contact is not one. */
  | 'not_imessage'
  /** The carrier refused. */
  | 'refused'
  /** The carrier is unreachable; a retry may succeed. */
  | 'unreachable'

const LINE_FAULT = Symbol.for('trunkline.LineFault')

export class LineFault extends Error {
  readonly [LINE_FAULT] = true

  /** By name, because an external driver may use its own copy of this class. */
  static override [Symbol.hasInstance](error: unknown): boolean {
    return typeof error === 'object' && error !== null && LINE_FAULT in error
  }

  constructor(
    readonly code: LineFaultCode,
    message: string,
  ) {
    super(message)
  }
}
