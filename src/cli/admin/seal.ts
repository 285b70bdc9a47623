import { newSealKey } from '../../core/accounts/seal.js'
import { CLIENT_OPTIONS, withClient } from '../client.js'
import type { Command } from '../command.js'
import { printRecord, printText } from '../output.js'

interface Batch {
  kid: string
  resealed: number
  unreadable: number
  next: string | null
}

const sealKey: Command = {
  name: 'seal key',
  summary: 'Make a key for sealing secrets; put it first in TRUNKLINE_SEAL_KEYS or in seal.key',
  options: {},
  examples: [
    'trunkline seal key',
    'TRUNKLINE_SEAL_KEYS="$(trunkline seal key),<older keys>" trunkline serve',
  ],
  async run(args) {
    const key = newSealKey()
    if (args.json) printRecord(args, { kid: key.split(':')[0], key })
    else printText(args, key)
  },
}

const sealRotate: Command = {
  name: 'seal rotate',
  summary: 'Seal all stored secrets under the newest key, after every node was started with it',
  options: { ...CLIENT_OPTIONS },
  examples: ['trunkline seal rotate', 'trunkline seal rotate --offline --json'],
  run: (args) =>
    withClient(args, async (send) => {
      const total = { kid: '', resealed: 0, unreadable: 0 }
      for (let after: string | null = null; ; ) {
        const batch = (await send('POST', '/admin/seal/rotate', after === null ? {} : { after })) as Batch
        total.kid = batch.kid
        total.resealed += batch.resealed
        total.unreadable += batch.unreadable
        after = batch.next
        if (after === null) break
      }
      printRecord(args, total)
      if (total.unreadable > 0)
        throw new Error(
          `${total.unreadable} secrets cannot be opened by any key of the ring; the log names them.`,
        )
    }),
}

export const SEAL_COMMANDS: readonly Command[] = [sealKey, sealRotate]
