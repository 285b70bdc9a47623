import { describe, expect, it } from 'vitest'
import { BLANK_MESSAGE, carriedOf } from '../../../src/core/messages/message.js'
import type { Chats } from '../../../src/drivers/bluebubbles/chats.js'
import type { Mac, MacAnswer } from '../../../src/drivers/bluebubbles/mac.js'
import { readRow } from '../../../src/drivers/bluebubbles/reading/rows.js'
import type { Statuses } from '../../../src/drivers/bluebubbles/reading/statuses.js'
import { confirm } from '../../../src/drivers/bluebubbles/sending/confirm.js'
import { createFinder } from '../../../src/drivers/bluebubbles/sending/lookup.js'
import type { Outbound } from '../../../src/drivers/contract.js'
import { createStubClock } from '../../support/drivers/stub-host.js'

const CHAT = 'iMessage;-;+14155550101'
const rowOf = (guid: string, text: string) => ({ guid, text, isFromMe: true, isDelivered: true, error: 0 })

/** Confirms a send whose answer named a row, with these known ids and these rows in the chat. */
function confirming(known: string[], inChat: object[] = []) {
  const said = (data: unknown): MacAnswer => ({
    status: 200,
    isEnvelope: true,
    data,
    metadata: {},
    fault: '',
  })
  const mac = {
    clock: createStubClock(1_800_000_000_000),
    settings: { url: '', password: '' },
    call: async ({ path }) => said(path === '/message/query' ? [rowOf('A', ''), rowOf('B', '')] : inChat),
  } as Pick<Mac, 'clock' | 'settings' | 'call'> as Mac
  const statuses = { isFollowed: () => false, follow() {} } as Partial<Statuses> as Statuses
  const finder = createFinder({
    mac,
    statuses,
    chats: { withPerson: async () => CHAT } as Partial<Chats> as Chats,
    knownSends: async (guids) => new Set(guids.filter((guid) => known.includes(guid))),
    isHealthy: async () => true,
    settleMs: 180_000,
    top: () => undefined,
  })
  const named = async (ref: string, content: string, guid: string, text: string) => {
    const message: Outbound = {
      ...carriedOf(BLANK_MESSAGE),
      ...{ ref, content, handle: ref, to: '+14155550101', service: 'iMessage', sendStyle: '' },
      ...{ replyTo: null, group: null },
    }
    const row = readRow(rowOf(guid, text))!
    const result = await confirm({ mac, finder, statuses }, message, CHAT, row, mac.clock.now())
    return result.outcome === 'accepted' ? result.providerId : result.code
  }
  return named
}

describe('the row that a server names as the sent message', () => {
  it('is accepted although Messages changed its text', async () => {
    expect(await confirming([])('r1', 'Hello', 'A', 'Hello')).toBe('A')
    expect(await confirming([])('r1', 'Hello', 'A', 'Hell0')).toBe('A')
  })

  it('is rejected if it belongs to an earlier recorded send', async () => {
    expect(await confirming(['A'])('r2', 'Second', 'A', 'First')).toBe('other_message')
    expect(await confirming(['A'])('r2', 'Twice', 'A', 'Twice')).toBe('other_message')
  })

  it('is rejected if it belongs to an earlier send of this process', async () => {
    const named = confirming([])
    expect(await named('r1', 'First', 'A', 'First')).toBe('A')
    expect(await named('r2', 'Second', 'A', 'First')).toBe('other_message')
  })

  it('is rejected if another row in the chat matches', async () => {
    const inChat = [rowOf('A', 'Twice'), rowOf('B', 'Twice')]
    expect(await confirming(['A'], inChat)('r2', 'Twice', 'A', 'Twice')).toBe('B')
  })
})
