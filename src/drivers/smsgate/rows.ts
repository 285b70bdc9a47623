import { hash } from 'node:crypto'
import { fieldsOf, listOf, textOf, wholeOf } from '../../core/fields.js'

/** A row of the app's inbox. */
export interface InboxRow {
  id: string
  type: string
  sender: string
  sim: number | null
  text: string
  /** The time that the network gave the text, which may be long before it arrived. */
  at: number
  attachments: readonly Attachment[]
}

export interface Attachment {
  partId: number
  name: string
  contentType: string
}

/** Words of the app for an MMS without a text. */
const NO_TEXT = 'MMS content'

/** Reads a row; undefined if it lacks what identifies a text. */
export function rowOf(json: unknown): InboxRow | undefined {
  const row = fieldsOf(json)
  const at = timeOf(row.createdAt)
  const [id, sender] = [textOf(row.id), textOf(row.sender)]
  if (id === '' || sender === '' || at === undefined) return undefined
  return {
    id,
    type: textOf(row.type),
    sender,
    sim: wholeOf(row.simNumber) ?? null,
    text: row.contentPreview === NO_TEXT ? '' : textOf(row.contentPreview),
    at,
    attachments: listOf(row.attachments).map(attachmentOf).filter(isFile),
  }
}

export function attachmentOf(json: unknown): Attachment {
  const { partId, name, contentType } = fieldsOf(json)
  return { partId: wholeOf(partId) ?? -1, name: textOf(name), contentType: textOf(contentType).toLowerCase() }
}

/** An MMS also has its layout and its text as parts. */
export function isFile({ partId, contentType }: Attachment): boolean {
  return partId >= 0 && contentType !== 'application/smil' && contentType !== 'text/plain'
}

/** On old phones west of Greenwich the app writes a zone like +-8:00. */
export function timeOf(value: unknown): number | undefined {
  const text = textOf(value).replace(/\+-(\d{1,2}):-?(\d{2})$/, (_, hours: string, minutes: string) => {
    return `-${hours.padStart(2, '0')}:${minutes}`
  })
  const at = Date.parse(text)
  return at > 0 ? at : undefined
}

/**
 * The id of a text. The app's own is a number of 32 bits, which may repeat. It is hashed because an id is not deleted
 * with a person's texts, and sender and time are part of it.
 */
export function providerIdOf({ id, sender, at }: Pick<InboxRow, 'id' | 'sender' | 'at'>, part = 0): string {
  const digest = hash('sha256', `${id} ${sender} ${at}`, 'hex').slice(0, 32)
  return part === 0 ? digest : `${digest}-${part}`
}
