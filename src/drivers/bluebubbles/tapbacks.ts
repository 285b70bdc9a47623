import { parseReaction, REACTIONS, type Reaction, tapbackText } from '../../core/messages/reaction.js'
import type { Row } from './reading/rows.js'

const FIRST_TYPE = 2000
const FIRST_REMOVED_TYPE = 3000
const EMOJI_OFFSET = 6

/** The tapback in a row, if the row is one. An emoji tapback has its emoji only in the text. */
export function tapbackOf(row: Row): Reaction | 'unreadable' | undefined {
  const type = row.about?.type ?? ''
  const named = parseReaction(type)
  if (named && (REACTIONS as readonly string[]).includes(named.reaction)) return named
  if (!/^[23]00\d$/.test(type)) return undefined
  const number = Number(type)
  const remove = number >= FIRST_REMOVED_TYPE
  const kind = number - (remove ? FIRST_REMOVED_TYPE : FIRST_TYPE)
  if (kind < REACTIONS.length) return { reaction: REACTIONS[kind]!, remove }
  if (kind !== EMOJI_OFFSET) return undefined
  const words = row.text.split(/[“"]/, 1)[0]!.split(/\s+/)
  const emoji = words.find((word) => !/^[-\w]+$/.test(word) && parseReaction(word))
  return emoji ? { reaction: emoji, remove } : 'unreadable'
}

/** The text of a tapback: the phone's, or Trunkline's if the row has none. */
export function wordsOf(tapback: Reaction, row: Row, target: Row | undefined): string {
  if (row.text) return row.text
  const hasFile = (target?.attachments.length ?? 0) > 0
  return tapbackText(tapback, { content: target?.text ?? '', mediaUrl: hasFile ? 'file' : '' })
}
