import { newSealKey } from '../../core/accounts/seal.js'
import { type Command, command } from '../command.js'
import { note, printRecord, printText } from '../output.js'

interface Batch {
  kid: string
  total: number | null
  resealed: number
  unreadable: number
  next: string | null
}

export const SEAL_COMMANDS: readonly Command[] = [
  command({
    name: 'seal key',
    summary: 'Create a key for sealing secrets; put it first in TRUNKLINE_SEAL_KEYS or in seal.key',
    examples: ['', 'TRUNKLINE_SEAL_KEYS="$(trunkline seal key),<older keys>" trunkline serve'],
    run(args) {
      const key = newSealKey()
      if (args.json) printRecord(args, { kid: key.split(':')[0], key })
      else printText(args, key)
    },
  }),
  command({
    name: 'seal rotate',
    summary: 'Seal all stored secrets under the newest key, once every node has started with it',
    as: 'admin',
    examples: ['', '--offline --json'],
    async run(args, call) {
      const done = { kid: '', resealed: 0, unreadable: 0 }
      let total = 0
      for (let after: string | null | undefined; after !== null; ) {
        const batch = await call<Batch>('POST', '/admin/seal/rotate', after ? { after } : {})
        done.kid = batch.kid
        done.resealed += batch.resealed
        done.unreadable += batch.unreadable
        total = batch.total ?? total
        after = batch.next
        if (after !== null) note(args, `${done.resealed + done.unreadable} of ${total} secrets …`)
      }
      printRecord(args, done)
      if (done.unreadable > 0)
        throw new Error(`No key of the ring opens ${done.unreadable} of the secrets; the log names them.`)
    },
  }),
]
