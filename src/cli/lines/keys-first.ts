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

/**
 * A line that reaches real phones ends the development keys. At a terminal, whoever adds it with one of them can have
 * keys of their own first, while that key still works.
 */
export async function offerKeys(args: Args, call: Call, line: Record<string, unknown>): Promise<void> {
  const isAtRisk = serverOf(args, 'admin').who === DEFAULT_WORLD.keys.admin.id && args.values.offline !== true
  if (!isAtRisk || isSimulated({ driver: String(line.driver ?? 'simulator') }) || !isTerminal(args)) return
  note(args, 'This line reaches real phones. When it is added, the development keys end.')
  if (!(await agrees(args, 'Create your own admin, live and test key first?', true))) return
  const { account_id } = line
  for (const body of [{ kind: 'admin' }, { kind: 'live', account_id }, { kind: 'test', account_id }]) {
    const { id, secret } = await call<CreatedKey>('POST', '/admin/keys', { ...body, label: 'first' })
    note(args, `${body.kind.padEnd(5)} key  ${id} / ${secret}`)
  }
  note(args, 'Save them now: Trunkline keeps no copy of the secrets and shows them only here.')
}
