import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { credentials, type Json, type Who, type World } from '../support/world.js'

export const MB = 1_000_000

/** Uploads over a real connection. */
export async function upload(
  world: World,
  form: FormData,
  { as = 'live' as Who, headers = {} as Record<string, string> } = {},
): Promise<{ status: number; body: Json; headers: Headers }> {
  const reply = await fetch(`${world.app.url()}/api/upload-file`, {
    method: 'POST',
    headers: { ...credentials(as), ...headers },
    body: form,
  })
  return { status: reply.status, body: await reply.json(), headers: reply.headers }
}

export function formOf(bytes: Uint8Array, name = 'photo.png', type = ''): FormData {
  const form = new FormData()
  form.append('file', new Blob([bytes as Uint8Array<ArrayBuffer>], { type }), name)
  return form
}

/** How many files there are to the outside. */
export async function rows(world: World): Promise<number> {
  return (await world.app.ctx.db.one<{ n: number }>('select count(*) as n from media'))!.n
}

/** Everything that holds bytes, finished or not. */
export async function blobs(world: World): Promise<string[]> {
  if (world.engine === 'sqlite') {
    try {
      return readdirSync(join(world.config.data, 'media'))
    } catch {
      return []
    }
  }
  const { db } = world.app.ctx
  const chunks = await db.all<{ name: string }>('select distinct name from media_chunks')
  const drafts = await db.all<{ name: string }>('select name from media_drafts')
  return [...chunks.map((row) => row.name), ...drafts.map((row) => `${row.name}.part`)]
}
