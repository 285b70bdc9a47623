import { hash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { topics } from '../../src/core/topics.js'
import type { Driver } from '../../src/drivers/contract.js'
import { dumpOf } from '../support/dump.js'
import { eventually } from '../support/server.js'
import { createWorld, ENGINES, type World } from '../support/world.js'
import { linesIn, NUMBER } from './support.js'

describe.each(ENGINES)('administration of lines on %s', (engine) => {
  let world: World
  let account: string
  beforeAll(async () => {
    world = await createWorld(engine, { isReal: true })
    ;(world.app.ctx.drivers as Map<string, Driver>).set('post', carrier.driver)
    account = await firstAccount()
  })
  afterAll(() => world?.close())

  const { carrier, admin, firstAccount, add, change } = linesIn(() => world)

  describe('secrets', () => {
    it('reach the driver, and are shown to nobody', async () => {
      const line = await add({ server: 'rcs.example', token: 'sesame', birds: 3 })
      expect(line.config).toEqual({ server: 'rcs.example', token: '(kept)', birds: 3 })
      expect(line.capabilities.services).toEqual(['RCS'])
      expect(line.pace).toBe(2)
      expect(carrier.connected.at(-1)).toEqual({ server: 'rcs.example', token: 'sesame', birds: 3 })
      expect((await admin('GET', `lines/${line.id}`)).body.config.token).toBe('(kept)')
    })

    it.each([
      ['left out', {}],
      ['given as it is shown', { token: '(kept)' }],
    ])('stay when they are %s', async (_, given) => {
      const line = await add()
      const reply = await change(line.id, { config: { server: 'loft', birds: 2, ...given } })
      expect(reply.body.config).toEqual({ server: 'loft', token: '(kept)', birds: 2 })
      expect(carrier.connected.at(-1)).toEqual({ server: 'loft', token: 'sesame', birds: 2 })
    })

    it('alone are a reason to connect anew', async () => {
      const line = await add()
      const before = carrier.connected.length
      await change(line.id, { config: line.config })
      expect(carrier.connected.length).toBe(before)
      await change(line.id, { config: { ...line.config, token: 'abracadabra' } })
      expect(carrier.connected.slice(before)).toEqual([{ server: 'loft', token: 'abracadabra' }])
      await world.restart()
      ;(world.app.ctx.drivers as Map<string, Driver>).set('post', carrier.driver)
      // The other lines had no driver until now. They connect at once, not at some moment of a later test.
      world.app.ctx.wakes.wake(topics.lines, '')
      await world.app.ctx.lines.tended()
      await change(line.id, { pace: 3 })
      expect(carrier.connected.filter((one) => one.token === 'abracadabra').length).toBeGreaterThan(1)
    })

    it('that need not be there are taken away with null, and those that must be are not', async () => {
      const line = await add({ server: 'loft', token: 'sesame', pin: '1234' })
      expect(line.config.pin).toBe('(kept)')
      expect((await change(line.id, { config: { ...line.config, pin: null } })).body.config).toEqual({
        server: 'loft',
        token: '(kept)',
      })
      expect(carrier.connected.at(-1)).toEqual({ server: 'loft', token: 'sesame' })
      const refused = await change(line.id, { config: { server: 'loft', token: null } })
      expect([refused.status, refused.body.error.message]).toEqual([400, 'config.token: is required'])
    })

    it('of a line that is removed are gone', async () => {
      const rows = () => world.app.ctx.db.all('select line_id from line_secrets')
      const line = await add()
      expect(await rows()).toContainEqual({ line_id: line.id })
      await admin('DELETE', `lines/${line.id}`)
      expect(await rows()).not.toContainEqual({ line_id: line.id })
    })

    it('that no key opens any more keep no other line from working, and are given anew', async () => {
      const line = await add()
      await world.app.ctx.db.run("update line_secrets set sealed = sealed || 'x' where line_id = $1", [
        line.id,
      ])
      await change(line.id, { pace: 4 })
      expect(world.app.ctx.lines.get(line.id)).toBeUndefined()
      expect(world.logs.join('\n')).toContain('the line could not be started')
      const other = await add({ server: 'other', token: 'open sesame' })
      expect(world.app.ctx.lines.get(other.id)).toMatchObject({ line: { id: other.id } })
      expect(carrier.connected.at(-1)).toEqual({ server: 'other', token: 'open sesame' })
      const tried = await admin('POST', `lines/${line.id}/test`, {})
      expect(tried.body.error.message).toBe('config.token: nothing is kept: give the token itself')
      expect((await change(line.id, { config: { server: 'loft', token: 'anew' } })).status).toBe(200)
      expect(world.app.ctx.lines.get(line.id)).toMatchObject({ line: { id: line.id } })
      expect(carrier.connected.at(-1).token).toBe('anew')
    })

    it('of two changes at the same moment, neither loses what the other kept', async () => {
      const line = await add({ server: 'loft', token: 'sesame', pin: '1234' })
      const replies = await Promise.all([
        change(line.id, { config: { server: 'loft', token: 'changed' } }),
        change(line.id, { config: { server: 'loft', pin: '9999' } }),
      ])
      expect(replies.map(({ status }) => status)).toEqual([200, 200])
      await world.app.ctx.lines.tended()
      expect(carrier.connected.at(-1)).toEqual({ server: 'loft', token: 'changed', pin: '9999' })
    })

    it('are in no log, answer, event, or row of the database', async () => {
      const secret = 'Xyzzy-7731 Plugh'
      const key = { 'idempotency-key': 'line-with-a-secret' }
      const body = {
        account_id: account,
        number: '+13105550139',
        driver: 'post',
        config: { server: 'a', token: secret },
      }
      const first = await world.post('/admin/lines', body, 'admin', key)
      const again = await world.post('/admin/lines', body, 'admin', key)
      expect([again.status, again.body]).toEqual([201, first.body])
      const { id } = first.body
      await world.app.ctx.lines.tended()
      carrier.say(`GET http://a/?token=${encodeURIComponent(secret)} and ${secret}: 401`)
      carrier.find = async () => [{ ok: false, what: `No entry for ${secret}`, advice: `not ${secret}` }]
      const answers = [
        (await admin('POST', 'lines/test', { driver: 'post', number: NUMBER, config: body.config })).body,
        (await admin('POST', `lines/${id}/test`, {})).body,
        (await admin('POST', `lines/${id}/test`, { config: { server: 5, token: secret } })).body,
        (await change(id, { config: { server: 'b', token: `${secret}!`, pin: `${secret}#` } })).body,
        (await change(id, { config: { server: 'b', token: [secret] } })).body,
        (await change(id, { config: { server: 'b', [secret]: 1 } })).body,
      ]
      expect(answers[0]).toEqual({
        ok: false,
        findings: [{ ok: false, what: 'No entry for (kept)', advice: 'not (kept)' }],
      })
      // A secret written where a name belongs is shown to its writer, and to nobody else.
      expect(answers.pop().error.message).toContain('there is no such setting')
      await world.settle()
      for (const path of ['lines', `lines/${id}`, 'drivers', 'accounts', 'keys'])
        answers.push((await admin('GET', path)).body)
      for (const path of ['/api/lines', '/api/v2/lines/state', '/api/v2/dashboard/lines'])
        answers.push((await world.get(path)).body)
      const state = await eventually(
        async () => (await admin('GET', `lines/${id}`)).body,
        ({ state }) => state !== 'UNKNOWN',
      )
      answers.push(state, await world.events(), world.logs)
      const dump = await dumpOf(world.app)
      for (const text of [JSON.stringify(answers), dump])
        for (const form of [secret, encodeURIComponent(secret), 'Xyzzy']) expect(text).not.toContain(form)
      // Nor anything that a guess could be compared with.
      expect(dump).toContain('line-with-a-secret')
      expect(dump).not.toContain(hash('sha256', JSON.stringify(body), 'base64'))
    })
  })
})
