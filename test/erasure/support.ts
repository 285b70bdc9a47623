import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { tablesOf } from '../support/dump.js'
import type { Json, World } from '../support/world.js'

export const MINUTE = 60_000

/** Names of the tables that hold this text, in any spelling. */
export async function tablesWith(world: World, text: string): Promise<string[]> {
  const found = [...(await tablesOf(world.app))].filter(([, rows]) =>
    rows.some((row) => row.toLowerCase().includes(text.toLowerCase())),
  )
  return found.map(([name]) => name).sort()
}

/** Names of the files in the data folder that hold this text. */
export function filesWith(world: World, text: string): string[] {
  return (readdirSync(world.config.data, { recursive: true }) as string[])
    .map((name) => join(world.config.data, name))
    .filter((path) => statSync(path).isFile() && readFileSync(path).includes(text))
    .map((path) => path.split('/').at(-1)!)
}

/** Asks for an erasure. */
export async function erase(world: World, person: string, account?: string): Promise<Json> {
  const body = { person, ...(account === undefined ? {} : { account_id: account }) }
  return (await world.post('/admin/erasures', body, 'admin')).body
}

/** Lets time pass until an erasure is done. */
export async function finish(world: World, id: string): Promise<Json> {
  for (let minutes = 0; minutes < 30; minutes++) {
    const { body } = await world.get(`/admin/erasures/${id}`, 'admin')
    if (body.state === 'done') return body
    await world.advance(MINUTE)
  }
  throw new Error(JSON.stringify((await world.get(`/admin/erasures/${id}`, 'admin')).body))
}
