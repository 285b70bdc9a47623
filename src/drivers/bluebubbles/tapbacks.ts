import { parseReaction, REACTIONS, type Reaction, tapbackText } from '../../core/messages/reaction.js'
import type { Row } from './reading/rows.js'

const FIRST = 2000
const FIRST_REMOVED = 3000
const EMOJI = 6

/** The tapback that a row is, if it is one. An emoji stands in its text alone. */
export function tapbackOf(row: Row): Reaction | 'unreadable' | undefined {
  const type = row.about?.type ?? ''
  const named = parseReaction(type)
  if (named && (REACTIONS as readonly string[]).includes(named.reaction)) return named
  if (!/^[23]00\d$/.test(type)) return undefined
  const number = Number(type)
  const remove = number >= FIRST_REMOVED
  const kind = number - (remove ? FIRST_REMOVED : FIRST)
  if (kind < REACTIONS.length) return { reaction: REACTIONS[kind]!, remove }
  if (kind !== EMOJI) return undefined
  const said = row.text.split(/[“"]/, 1)[0]!.split(/\s+/)
  const emoji = said.find((word) => !/^[-\w]+$/.test(word) && parseReaction(word))
  return emoji ? { reaction: emoji, remove } : 'unreadable'
}

/** The words of a tapback: those of the phone, or ours when it gave none. */
export function wordsOf(tapback: Reaction, row: Row, target: Row | undefined): string {
  if (row.text) return row.text
  const hasFile = (target?.attachments.length ?? 0) > 0
  return tapbackText(tapback, { content: target?.text ?? '', mediaUrl: hasFile ? 'file' : '' })
}
