import { type AttachmentRow, columnsOf, type File } from '../chat-db.js'
import { badRequest, notFound, Refusal, type Reply, serverError } from '../envelope.js'
import { attachmentView } from '../projections.js'
import { type Ask, type Mac, type Route, wait } from '../state.js'
import { fullView } from './messages.js'
import { validate } from './rules.js'
import { attempt, helperSend, mimeTypeOf } from './sends.js'

export const attachmentRoutes: Route[] = [
  { method: 'GET', path: 'attachment/count', handle: count },
  { method: 'GET', path: 'attachment/:guid/download', handle: download },
  { method: 'GET', path: 'attachment/:guid/download/force', privateApi: true, handle: force },
  {
    method: 'GET',
    path: 'attachment/:guid/live',
    handle(mac, { params }) {
      requireAttachment(mac, params.guid)
      throw notFound('Live photo does not exist for this attachment!')
    },
  },
  {
    method: 'GET',
    path: 'attachment/:guid',
    handle: (mac, { params }) => ({
      data: attachmentView(requireAttachment(mac, params.guid), { convertsHeic: mac.flags.convertsHeic }),
    }),
  },
]

const DOWNLOAD_RULES = {
  height: 'numeric|min:1',
  width: 'numeric|min:1',
  quality: 'string|in:good,better,best',
  force: 'boolean',
  original: 'boolean',
}

export const chunkRoutes: Route[] = [{ method: 'POST', path: 'message/attachment/chunk', handle: chunk }]

/** Only the last 36 characters of the guid count. */
function find(mac: Mac, guid: string | undefined): AttachmentRow | undefined {
  const tail = `%${guid!.slice(-36)}`
  return mac.db.one<AttachmentRow>(
    `select ${columnsOf('attachment')} from attachment where guid like ? or original_guid like ?`,
    tail,
    tail,
  )
}

function requireAttachment(mac: Mac, guid: string | undefined): AttachmentRow {
  const row = find(mac, guid)
  if (!row) throw notFound('Attachment does not exist!')
  return row
}

function count(mac: Mac): Reply {
  return { data: mac.db.one('select count(*) as total from attachment') }
}

function download(mac: Mac, { params, query }: Ask): Reply {
  validate(Object.fromEntries(query), DOWNLOAD_RULES)
  const row = find(mac, params.guid)
  if (!row) {
    if (!mac.flags.privateApi || query.get('force') === 'false') throw notFound('Attachment does not exist!')
    // The server's bug: it reads the guid of a missing attachment.
    throw new Error("Cannot read properties of null (reading 'guid')")
  }
  const file = mac.db.files.get(row.guid)
  if (!file?.onDisk) throw serverError('Attachment does not exist in disk!')
  return { file: handedOut(mac, file, query.get('original') === 'true') }
}

function handedOut(mac: Mac, file: File, original: boolean) {
  const { bytes, mimeType, name } = file
  if (mimeType !== 'image/heic' || original || !mac.flags.convertsHeic) return { bytes, mimeType, name }
  return { bytes: Buffer.concat([JPEG, bytes]), mimeType: 'image/jpeg', name: `${name}.jpeg` }
}

/** Start of a JPEG, so that tests recognise a converted file. */
const JPEG = Buffer.from([0xff, 0xd8, 0xff, 0xe0])

async function force(mac: Mac, ask: Ask): Promise<Reply> {
  const row = find(mac, ask.params.guid)
  if (!row)
    throw new Refusal(
      400,
      'Validation Error',
      `An attachment with the GUID, "${ask.params.guid}" does not exist!`,
      'Bad Request',
    )
  const file = mac.db.files.get(row.guid)
  if (file && !file.onDisk) {
    await wait(mac, file.fetchMs ?? mac.waits.forced)
    if (file.fetchMs !== undefined) file.onDisk = true
  }
  return download(mac, ask)
}

/** Receives a file in chunks; the last chunk sends it. */
async function chunk(mac: Mac, { fields, files }: Ask): Promise<Reply> {
  const asked = validate(fields, {
    chatGuid: 'required|string',
    attachmentGuid: 'required|string',
    name: 'required|string',
    chunkIndex: 'required|numeric|min:0',
    totalChunks: 'required|numeric|min:1',
    isComplete: 'boolean',
    method: 'string|in:apple-script,private-api',
  }) as Record<string, string>
  const { chatGuid, attachmentGuid, name } = asked as {
    chatGuid: string
    attachmentGuid: string
    name: string
  }
  const [index, total] = [Number(asked.chunkIndex), Number(asked.totalChunks)]
  if (!files.chunk?.bytes.length) throw badRequest('Chunk not provided or was empty!')
  if (index >= total) throw badRequest('Chunk index cannot be greater than or equal to total chunks!')
  const pieces = mac.memory.chunks.get(attachmentGuid) ?? []
  pieces[index] = files.chunk.bytes
  mac.memory.chunks.set(attachmentGuid, pieces)
  if (asked.isComplete !== 'true')
    return {
      message: `Chunk ${index}/${total - 1} uploaded successfully.`,
      data: { attachmentGuid, chunkIndex: index, totalChunks: total, remainingChunks: total - index - 1 },
    }
  const row = await attempt('Attachment Chunk Send Error', async () => {
    const found = pieces.filter(Boolean)
    if (found.length !== total)
      throw new Error(`Missing chunks. Expected ${total} chunks, but found ${found.length}.`)
    mac.memory.chunks.delete(attachmentGuid)
    const file = { name, mimeType: mimeTypeOf(name), bytes: Buffer.concat(found) }
    return helperSend(mac, chatGuid, { text: '', files: [file] }, 'attachment')
  })
  return { message: 'Attachment sent!', data: fullView(mac, row, { withAttachments: false }) }
}
