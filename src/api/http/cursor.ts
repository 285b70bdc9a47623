import { Type } from 'typebox'
import { AppError } from '../../core/errors.js'
import type { MessagePosition } from '../../storage/messages/scan.js'
import { nullable } from '../messages/wire.js'

/** What all lists have that go on from a cursor. */
export const pageQuery = (max: number, usual: number) => ({
  limit: Type.Optional(
    Type.Integer({ minimum: 1, description: `Rows to return; at most ${max}, default ${usual}` }),
  ),
  cursor: Type.Optional(Type.String({ maxLength: 200, description: 'next_cursor of the page before' })),
})

export const NextCursor = nullable('string', 'Where to go on; null at the end')

/** An id that sorts by time. */
export function idCursor(cursor: string | undefined): string | undefined {
  if (cursor === undefined) return undefined
  if (!/^[\da-f-]{36}$/.test(cursor)) throw badCursor()
  return cursor
}

export function placeText(place: MessagePosition): string {
  return `${place.createdAt}-${place.id}`
}

/** Places in the order of messages, as many as were written. */
export function placesOf(cursor: string, count: number): MessagePosition[] {
  const numbers = cursor.split('-')
  if (numbers.length !== 2 * count || !numbers.every((one) => /^\d{1,15}$/.test(one))) throw badCursor()
  return Array.from({ length: count }, (_, i) => ({
    createdAt: Number(numbers[2 * i]),
    id: Number(numbers[2 * i + 1]),
  }))
}

function badCursor(): AppError {
  return new AppError('invalid', 'cursor: must be next_cursor of the page before')
}
