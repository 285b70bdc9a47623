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

export class LineFault extends Error {
  constructor(
    readonly code: LineFaultCode,
    message: string,
  ) {
    super(message)
  }
}
