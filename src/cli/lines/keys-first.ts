import { isSimulated } from '../../core/accounts/harmless.js'
import { DEFAULT_WORLD } from '../../services/accounts/default-world.js'
import type { Args } from '../args.js'
import { type Call, serverOf } from '../client.js'
import { note } from '../output.js'
import { agrees, isTerminal } from './secrets.js'

interface CreatedKey {
  id: string
  secret: string
}

interface ListedKey {
  id: string
  kind: string
  revoked_at: string | null
}

/**
 * A line that reaches real phones ends the development keys. At a terminal, whoever adds it with one of them, or
 * offline without an admin key of their own, can have keys of their own first.
 */
export async function offerKeys(args: Args, call: Call, line: Record<string, unknown>): Promise<void> {
  if (isSimulated({ driver: String(line.driver ?? 'simulator') }) || !isTerminal(args)) return
  if (!(await isAtRisk(args, call))) return
  note(args, 'This line reaches real phones. When it is added, the development keys end.')
  if (!(await agrees(args, 'Create your own admin, live and test key first?', true))) return
  const { account_id } = line
  for (const body of [{ kind: 'admin' }, { kind: 'live', account_id }, { kind: 'test', account_id }]) {
    const { id, secret } = await call<CreatedKey>('POST', '/admin/keys', { ...body, label: 'first' })
    note(args, `${body.kind.padEnd(5)} key  ${id} / ${secret}`)
  }
  note(args, 'Save them now: Trunkline keeps no copy of the secrets and shows them only here.')
}

async function isAtRisk(args: Args, call: Call): Promise<boolean> {
  const { id } = DEFAULT_WORLD.keys.admin
  if (args.values.offline !== true) return serverOf(args, 'admin').who === id
  const { data } = await call<{ data: ListedKey[] }>('GET', '/admin/keys')
  return !data.some((key) => key.kind === 'admin' && key.revoked_at === null && key.id !== id)
}
