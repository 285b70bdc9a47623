import { expect, it } from 'vitest'
import { eventually, spawnServer, temporaryStorage } from '../support/server.js'
import { type Json, LINE, SHARED_LINE } from '../support/world.js'
import { get, post, tuneLine } from './ledger.js'

const env = { TRUNKLINE_LEASE_MS: '1000', TRUNKLINE_WIRE_TIMEOUT_MS: '2000', LOG_LEVEL: 'silent' }

it('groups on two processes: the same people are one group, and either process can change it', async () => {
  const storage = await temporaryStorage('postgres')
  const servers = await Promise.all([1, 2].map(() => spawnServer({ env: { ...env, ...storage } })))
  const urls = servers.map((server) => server.url)
  await tuneLine(urls[0]!, { pace: 0, config: { latency_ms: 1 } })

  // First sends at once, at both, of people in any order; ten groups.
  const groups = await Promise.all(
    Array.from({ length: 10 }, async (_, i) => {
      const people = [0, 1, 2].map((n) => `+1202555${4000 + i * 3 + n}`)
      const answers = await Promise.all(
        Array.from({ length: 6 }, (_, n) =>
          post(urls[n % 2]!, '/api/send-group-message', {
            from_number: LINE,
            numbers: n % 3 ? people : [...people].reverse(),
            content: `text ${n}`,
          }),
        ),
      )
      expect(answers.map((answer) => answer.status)).toEqual(Array(6).fill(202))
      const ids = new Set(answers.map((answer) => answer.body.group_id as string))
      expect(ids.size).toBe(1)
      return { id: [...ids][0]!, people }
    }),
  )
  expect(new Set(groups.map((group) => group.id)).size).toBe(10)
  const delivered = async () =>
    (await get(urls[0]!, '/api/v2/messages?status=DELIVERED&message_type=group&limit=1')).pagination?.total
  await eventually(delivered, (n) => n === 60, 30_000, 250)
  const inbox = await get(urls[0]!, `/sim/phones/${encodeURIComponent(groups[3]!.people[1]!)}/inbox`)
  expect(inbox.data.map((message: Json) => message.content).sort()).toEqual(
    Array.from({ length: 6 }, (_, n) => `text ${n}`),
  )

  // A line is driven by one of the two; both answer when its phones have the change.
  for (const line of [LINE, SHARED_LINE]) {
    const people = ['+12025554901', '+12025554902', '+12025554903']
    const { body } = await post(urls[0]!, '/api/create-group', { from_number: line, numbers: people })
    const { group_id } = body
    for (const [index, url] of urls.entries()) {
      const newcomer = `+120255549${10 + index}`
      const added = await post(url, '/api/modify-group', {
        group_id,
        modify_type: 'add_recipient',
        number: newcomer,
      })
      expect(added.body).toMatchObject({ status: 'OK' })
      const chat = () => get(url, `/sim/groups/${group_id}`)
      await eventually(chat, (found) => found.members?.includes(newcomer) === true, 5000, 50)
      const named = await post(url, `/api/v2/groups/${group_id}/name`, { group_name: `by ${index}` })
      expect(named.body.data.group_name).toBe(`by ${index}`)
      expect((await chat()).name).toBe(`by ${index}`)
    }
    // One of both may go, not both: four are needed.
    const two = ['+12025554901', '+12025554902', '+12025554903', '+12025554910', '+12025554911']
    const removals = await Promise.all(
      two.map((number, i) =>
        post(urls[i % 2]!, '/api/modify-group', { group_id, modify_type: 'remove_recipient', number }),
      ),
    )
    expect(removals.filter((answer) => answer.status === 200)).toHaveLength(3)
    await eventually(
      async () => [
        (await get(urls[0]!, `/api/v2/groups/${group_id}`)).data.participant_numbers,
        (await get(urls[1]!, `/sim/groups/${group_id}`)).members,
      ],
      ([ours, theirs]) => ours.length === 2 && theirs.length === 3,
      60_000,
      50,
    )
  }
  for (const server of servers) expect(await server.kill('SIGTERM')).toMatchObject({ code: 0 })
})
