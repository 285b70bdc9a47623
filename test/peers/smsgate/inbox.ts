/** The received texts of a fake phone. */

export interface InboxRow {
  id: string
  type: 'SMS' | 'DATA_SMS' | 'MMS' | 'MMS_DOWNLOADED'
  sender: string
  recipient: string | null
  simNumber: number | null
  contentPreview: string
  /** The network's time, in whole seconds like that of a real text. */
  at: number
  attachments: { partId: number; name: string; contentType: string; bytes: Buffer }[]
}

export function createInbox(now: () => number) {
  const rows = new Map<string, InboxRow>()

  /** Kotlin's hash of a text, from which the app makes its ids. */
  const idOf = (sender: string, at: number, sim: number | null, text: string) => {
    let hash = javaHash(sender)
    hash = (31 * hash + (Math.trunc(at / 2 ** 32) ^ at)) | 0
    hash = (31 * hash + (sim ?? 0)) | 0
    return `text:${(31 * hash + javaHash(text)) | 0}`
  }

  function add(row: InboxRow): InboxRow {
    rows.set(row.id, row)
    return row
  }

  return {
    rows,
    text(sender: string, text: string, options: { at?: number; sim?: number | null } = {}): InboxRow {
      const { at = now(), sim = 1 } = options
      return add({
        id: idOf(sender, at, sim, text),
        type: 'SMS',
        sender,
        recipient: null,
        simNumber: sim,
        contentPreview: text,
        at,
        attachments: [],
      })
    },
    mms(sender: string, text: string, attachments: InboxRow['attachments']): InboxRow {
      const at = now()
      return add({
        id: `mms:${javaHash(`${sender} ${at}`)}`,
        type: 'MMS_DOWNLOADED',
        sender,
        recipient: null,
        simNumber: 1,
        contentPreview: text || 'MMS content',
        at,
        attachments,
      })
    },
    /** Newest first, by the network's time. */
    list(query: URLSearchParams) {
      const time = (name: string, missing: number) =>
        query.has(name) ? Date.parse(query.get(name)!) : missing
      const [from, to] = [time('from', 0), time('to', now())]
      const found = [...rows.values()]
        .filter(({ at }) => at >= from && at <= to)
        .sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1))
      const offset = Number(query.get('offset') ?? 0)
      const page = found.slice(offset, offset + Number(query.get('limit') ?? 50))
      const withFiles = query.get('includeAttachments') === 'true'
      return {
        total: found.length,
        page: page.map(({ at, attachments, ...row }) => ({
          ...row,
          createdAt: new Date(at).toISOString(),
          attachments: withFiles
            ? attachments.map(({ bytes, ...file }) => ({ ...file, size: bytes.length }))
            : [],
        })),
      }
    },
  }
}

function javaHash(text: string): number {
  let hash = 0
  for (let i = 0; i < text.length; i++) hash = (31 * hash + text.charCodeAt(i)) | 0
  return hash
}
