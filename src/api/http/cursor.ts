import { AppError } from '../../core/errors.js'
import type { MessagePosition } from '../../storage/messages/scan.js'
import { integer, nullable, optional, string } from './schemas.js'

/** Query parameters of lists with a cursor. */
export const pageQuery = (max: number, usual: number) => ({
  limit: optional(integer(`Rows to return; at most ${max}, default ${usual}`, { minimum: 1 })),
  cursor: optional(string('next_cursor of the previous page', { maxLength: 200 })),
})

export const NextCursor = nullable('string', 'Cursor of the next page; null at the end')

/** A cursor that is an id; ids sort by time. */
export function idCursor(cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined
  if (!/^[\da-f-]{36}$/.test(cursor)) throw badCursor()
  return cursor
}

export function positionText({ createdAt, id }: MessagePosition): string {
  return `${createdAt}-${id}`
}

/** The given number of message positions in a cursor. */
export function positionsIn(cursor: string, count: number): MessagePosition[] {
  const numbers = cursor.split('-')
  if (numbers.length !== 2 * count || !numbers.every((one) => /^\d{1,15}$/.test(one))) throw badCursor()
  return Array.from({ length: count }, (_, i) => ({
    createdAt: Number(numbers[2 * i]),
    id: Number(numbers[2 * i + 1]),
  }))
}

export function badCursor(): AppError {
  return new AppError('invalid', 'cursor: must be next_cursor of the previous page')
}
