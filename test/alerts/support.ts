import { DEFAULT_WORLD } from '../../src/services/accounts/default-world.js'
import type { Json, World } from '../support/world.js'

export const MINUTE = 60_000

/** What an account was told of alerts of a kind, in order: the events' data. */
export async function told(world: World, kind: string, accountId?: string): Promise<Json[]> {
  const id = accountId ?? (await ownId(world))
  const rows = await world.app.ctx.db.all<{ data: string }>(
    'select data from events where account_id = $1 and type = $2 order by seq',
    [id, kind],
  )
  return rows.map(({ data }) => JSON.parse(data))
}

export async function states(world: World, kind: string, accountId?: string): Promise<string[]> {
  return (await told(world, kind, accountId)).map(({ state }) => state)
}

/** Id of the default account. */
export async function ownId(world: World): Promise<string> {
  const { data } = (await world.get('/admin/accounts', 'admin')).body
  return data.find((one: Json) => one.email === DEFAULT_WORLD.email).id
}

/** Switches the default line, or another one, off or on. */
export const setState = (world: World, state: 'OFFLINE' | 'ONLINE', line: string) =>
  world.setLine(line, { config: { state } })
