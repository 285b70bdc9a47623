import { afterEach, describe, expect, it } from 'vitest'
import { createWorld, ENGINES, type Json, type World } from '../support/world.js'

const MESSAGES = 1000
const CONVERSATIONS = 50

describe.each(ENGINES)('order on %s', (engine) => {
  let world: World
  afterEach(() => world.close())

  it(`${MESSAGES} concurrent sends to ${CONVERSATIONS} people arrive per person in the order they were accepted`, async () => {
    world = await createWorld(engine, { line: { pace: 0, config: { latency_ms: 20 } } })
    const phones = Array.from({ length: CONVERSATIONS }, (_, i) => `+1202555${2000 + i}`)
    const answers = await Promise.all(
      Array.from({ length: MESSAGES }, (_, i) =>
        world.send({ number: phones[i % CONVERSATIONS], content: `message ${i}` }),
      ),
    )
    expect(new Set(answers.map((answer) => answer.message_handle)).size).toBe(MESSAGES)
    for (let i = 0; i < 40; i++) await world.advance(500)

    const accepted = await world.app.ctx.db.all<{ contact: string; content: string; status: string }>(
      'select contact, content, status from messages order by id',
    )
    expect(accepted).toHaveLength(MESSAGES)
    expect(accepted.filter((row) => row.status !== 'DELIVERED')).toEqual([])
    for (const phone of phones) {
      const shown = (await world.inbox(phone)).map((message: Json) => message.content)
      expect(shown).toEqual(accepted.filter((row) => row.contact === phone).map((row) => row.content))
      expect(shown).toHaveLength(MESSAGES / CONVERSATIONS)
    }
    const events = await world.events()
    expect(events.map((event) => event.seq)).toEqual(events.map((_, i) => i + 1))
    expect(events).toHaveLength(MESSAGES * 3)
  })
})
