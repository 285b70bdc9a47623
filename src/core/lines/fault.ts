/** Why a line did not do what it was asked to do at once. */
export type LineFaultCode =
  /** The other side is not there: no chat, no such message, no such group. */
  | 'not_found'
  /** There has to be a conversation first. */
  | 'no_chat'
  /** Works between iMessage users only, and this person is not one. */
  | 'not_imessage'
  /** The carrier said no. */
  | 'refused'
  /** The carrier cannot be reached; the same may work later. */
  | 'unreachable'

const LINE_FAULT = Symbol.for('trunkline.LineFault')

export class LineFault extends Error {
  readonly [LINE_FAULT] = true

  /** A driver from elsewhere may have been made with a copy of this class. */
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
