/** Stored bytes of the rows that a list reads and renders at once: a few milliseconds of work. */
const PIECE_BYTES = 256 * 1024
/** Bytes of a row beside its texts. */
const ROW_BYTES = 500

export interface SizedRow<Id> {
  id: Id
  /** Bytes of the texts that users choose. */
  bytes: number
}

/** Splits ids, in their order, into pieces of at most `PIECE_BYTES`. A larger row is a piece of its own. */
export function piecesOf<Id>(rows: readonly SizedRow<Id>[]): Id[][] {
  const pieces: Id[][] = []
  let room = 0
  for (const { id, bytes } of rows) {
    room -= bytes + ROW_BYTES
    if (pieces.length > 0 && room >= 0) pieces.at(-1)!.push(id)
    else {
      pieces.push([id])
      room = PIECE_BYTES - bytes - ROW_BYTES
    }
  }
  return pieces
}
