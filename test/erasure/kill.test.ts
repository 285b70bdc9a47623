import { describe, expect, it } from 'vitest'
import { eventually, spawnServer } from '../support/server.js'
import { ADA, createWorld, credentials, ENGINES, LINE } from '../support/world.js'
import { filesWith, MINUTE, tablesWith } from './support.js'

const DIGITS = ADA.slice(1)
/** Slices after which the process is killed: among the messages, the other tables and the last steps. */
const KILLS = [1, 4, 30]

describe.concurrent.each(ENGINES)('kill -9 during an erasure on %s', (engine) => {
  it('leaves it to the next process, which finishes it', async () => {
    const world = await createWorld(engine)
    // Without messages that wait: the processes would send them at once, and young messages stay for ten minutes.
    await world.send({ content: 'to her' })
    await world.text(ADA, 'from her')
    await world.post('/api/v2/contacts', { number: ADA, first_name: 'Ada' })
    await world.post(`/sim/phones/${ADA}/calls`, { to: LINE })
    await world.advance(MINUTE)
    expect(await tablesWith(world, DIGITS)).toContain('calls')
    const env = {
      TRUNKLINE_DATA: world.config.data,
      LOG_LEVEL: 'silent',
      ...(world.config.databaseUrl ? { DATABASE_URL: world.config.databaseUrl } : {}),
    }
    const headers = { ...credentials('admin'), 'content-type': 'application/json' }
    let id = ''
    // The processes have the machine's clock, which is months after the world's.
    await world.restart(Date.now(), async () => {
      for (const slices of KILLS) {
        const server = await spawnServer({ env: { ...env, TRUNKLINE_FAILPOINT: `erasure.slice@${slices}` } })
        if (id === '') {
          const body = JSON.stringify({ person: ADA })
          const asked = await fetch(`${server.url}/admin/erasures`, { method: 'POST', headers, body })
          id = ((await asked.json()) as { id: string }).id
        }
        expect(await server.exited).toMatchObject({ signal: 'SIGKILL' })
      }
      const last = await spawnServer({ env })
      const isDone = async () => {
        const reply = await fetch(`${last.url}/admin/erasures/${id}`, { headers })
        return ((await reply.json()) as { state: string }).state === 'done'
      }
      await eventually(isDone, Boolean, 60_000)
      await last.kill('SIGTERM')
      if (engine === 'sqlite') expect(filesWith(world, DIGITS)).toEqual([])
    })
    expect(await tablesWith(world, DIGITS)).toEqual([])
    await world.close()
  }, 200_000)
})
