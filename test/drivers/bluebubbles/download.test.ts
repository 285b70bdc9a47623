import { describe, expect, it } from 'vitest'
import type { Call, Mac } from '../../../src/drivers/bluebubbles/mac.js'
import { CutOff, download } from '../../../src/drivers/bluebubbles/reading/download.js'

interface FileAnswer {
  status: number
  body: string
}

const own = (status: number, fault: string): FileAnswer => ({
  status,
  body: JSON.stringify({ status, message: 'No', error: { type: 'x', message: fault } }),
})
const page = (status: number): FileAnswer => ({ status, body: '<html>Bad Gateway</html>' })
const FILE: FileAnswer = { status: 200, body: 'bytes' }
const NOT_HERE = own(500, 'Attachment does not exist in disk!')

/** Outcome of a download for a sequence of answers. */
async function outcome(...answers: FileAnswer[]): Promise<string> {
  const left = [...answers]
  const open = async (_: Call) => {
    const { status, body } = left.shift() ?? page(599)
    return { status, headers: {}, body: bytes(body) }
  }
  const attachment = { guid: 'A', name: 'a.jpg', mimeType: 'image/jpeg' }
  try {
    const { body } = await download({ open } as Pick<Mac, 'open'> as Mac, attachment)
    let text = ''
    for await (const chunk of body) text += chunk
    return text
  } catch (error) {
    return error instanceof CutOff ? 'again' : (error as { code: string }).code
  }
}

async function* bytes(text: string): AsyncGenerator<Buffer> {
  for (let at = 0; at < text.length; at += 7) yield Buffer.from(text.slice(at, at + 7))
}

describe('downloading a file', () => {
  it('reads it, or makes the Mac fetch it first', async () => {
    expect(await outcome(FILE)).toBe('bytes')
    expect(await outcome(NOT_HERE, FILE)).toBe('bytes')
  })

  it.each<[string, ...FileAnswer[]]>([
    ['the Mac cannot get it', NOT_HERE, NOT_HERE],
    ['the Mac does not know it', own(404, 'Attachment does not exist!'), own(404, 'x')],
    ['the Mac does not know what to fetch', NOT_HERE, own(400, 'Bad Request')],
    ['a server that cannot fetch', NOT_HERE, { status: 404, body: 'Not Found' }],
  ])('is gone: %s', async (_, ...answers) => {
    expect(await outcome(...answers)).toBe('not_found')
  })

  it.each<[string, ...FileAnswer[]]>([
    ['the password is being changed', own(401, 'Unauthorized')],
    ['the same', own(403, 'x')],
    ['the request took too long', page(408)],
    ['too many requests', own(429, 'x')],
    ['a proxy without a Mac', page(502)],
    ['a server that starts', page(503)],
    ['a server that was too slow', own(504, 'The request has timed out')],
    ['a proxy that broke', page(500)],
    ['a tunnel that is down', page(404)],
    ['a way round', page(302)],
    ['a fetch that was too slow', NOT_HERE, own(504, 'The request has timed out')],
    ['a helper that is away', NOT_HERE, own(500, 'iMessage Private API Helper is not connected!')],
  ])('is asked for again: %s', async (_, ...answers) => {
    expect(await outcome(...answers)).toBe('again')
  })
})
