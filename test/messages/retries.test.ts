import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fresh, groupsIn } from '../groups/support.js'
import { PNG, serve } from '../support/files.js'
import {
  ADA,
  createWorld,
  ENGINES,
  type Json,
  LINE,
  SHARED_LINE,
  type Who,
  type World,
} from '../support/world.js'

const RETRY = { 'x-stainless-retry-count': '1' }
const HOOK = 'https://example.com/retried'

/**
 * A retry of the published client has no key, and its first try may never have arrived: an equal request of a few
 * minutes ago, which something was done after, is not the one it repeats.
 */
describe.each(ENGINES)("the published client's retries on %s", (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  afterAll(() => world.close())

  const { group, chat, made } = groupsIn(() => world)
  const post = (path: string, body: Json, headers = {}, as?: Who) => world.post(path, body, as, headers)
  const contact = async (phone: string) => (await world.get(`/api/v2/contacts/${phone}`)).body.contact
  const expectRun = (reply: { status: number; headers: Json }, status = 200) =>
    expect([reply.status, reply.headers['x-idempotent-replay']]).toEqual([status, undefined])

  describe('what a request wants to be so is so after it, whatever was done since an equal one', () => {
    /** X, then its opposite, then X again of which the first try got lost; then X once more, which changes nothing. */
    async function again(
      path: string,
      body: Json,
      opposite: () => Promise<unknown>,
      check: () => Promise<void>,
    ) {
      expectRun(await post(path, body))
      await check()
      await opposite()
      for (const count of ['1', '2']) {
        expectRun(await post(path, body, { 'x-stainless-retry-count': count }))
        await check()
      }
    }

    it('an opt-out', async () => {
      const [number] = fresh(1) as [string]
      const path = '/api/v2/contacts/opt-out'
      await again(
        path,
        { number },
        () => post(path, { number, opted_out: false }),
        async () => {
          const { message_handle } = await world.send({ number })
          await world.settle()
          expect((await world.record(message_handle)).opted_out).toBe(true)
        },
      )
    })

    it.each(['/api/account/webhooks', '/api/v2/account/webhooks'])('a webhook at %s', async (path) => {
      const body = { webhooks: [HOOK] }
      const remove = () => world.call('DELETE', path, { body })
      await again(path, body, remove, async () =>
        expect((await world.get(path)).body.webhooks.receive).toEqual([HOOK]),
      )
      await remove()
    })

    it.each(['/api/v2/contacts', '/api/contacts'])('a contact with update_if_exists at %s', async (path) => {
      const [number] = fresh(1) as [string]
      const named = (first_name: string) => ({ number, first_name, update_if_exists: true })
      const status = path === '/api/contacts' ? 201 : 200
      for (const [name, headers] of [
        ['A', {}],
        ['B', {}],
        ['A', RETRY],
      ] as const) {
        const reply = await post(path, named(name), headers)
        expectRun(reply, status)
        expect(reply.body.contact.first_name).toBe(name)
        expect((await contact(number)).first_name).toBe(name)
      }
    })

    it('many contacts', async () => {
      const [phone] = fresh(1) as [string]
      const rows = (first_name: string) => ({ contacts: [{ phone, first_name }] })
      const path = '/api/v2/contacts/bulk'
      await again(
        path,
        rows('A'),
        () => post(path, rows('B')),
        async () => expect((await contact(phone)).first_name).toBe('A'),
      )
    })

    it.each([
      ['/v3/verified-contacts', 'phone_number'],
      ['/accounts/verify-contact-on-shared-account', 'recipient'],
    ])('a contact of the shared line at %s, as it is now', async (path, field) => {
      const [number] = fresh(1) as [string]
      const body = { [field]: number }
      await post(path, body)
      await world.setPhone(number, {})
      await world.text(number, 'Hi', { to: SHARED_LINE })
      await world.advance(1000)
      const retry = await post(path, body, RETRY)
      expectRun(retry)
      expect((retry.body.data?.contact ?? retry.body.route).verified).toBe(true)
    })

    it('who is in a group', async () => {
      const [a, b, c, d] = fresh(4) as [string, string, string, string]
      const id = await made([a, b, c])
      const change = (modify_type: string) => ({ group_id: id, modify_type, number: d })
      await again(
        '/api/modify-group',
        change('add_recipient'),
        () => post('/api/modify-group', change('remove_recipient')),
        async () => expect((await chat(id)).members).toEqual([a, b, c, d, LINE]),
      )
    })

    it('a group of these people', async () => {
      const [a, b, c] = fresh(3) as [string, string, string]
      const body = { from_number: LINE, numbers: [a, b] }
      const first = await post('/api/create-group', body)
      expect((await post('/api/create-group', body, RETRY)).body).toEqual(first.body)
      await post('/api/modify-group', {
        group_id: first.body.group_id,
        modify_type: 'add_recipient',
        number: c,
      })
      const retry = await post('/api/create-group', body, RETRY)
      expectRun(retry)
      expect((await group(retry.body.group_id)).participant_numbers).toEqual([a, b])
    })

    it('the name of a group', async () => {
      const id = await made(fresh(2))
      const path = `/api/v2/groups/${id}/name`
      await again(
        path,
        { group_name: 'A' },
        () => post(path, { group_name: 'B' }),
        async () => expect((await chat(id)).name).toBe('A'),
      )
    })

    it('the photo of a group, which is fetched once as long as it is there', async () => {
      let fetched = 0
      const server = await serve((_request, response) => {
        fetched++
        response.end(PNG)
      })
      const id = await made(fresh(2))
      const path = `/api/v2/groups/${id}/photo`
      const body = { photo_url: `${server.url}/team.png` }
      const first = await post(path, body)
      const repeat = await post(path, body, RETRY)
      expect([repeat.body, fetched]).toEqual([first.body, 1])
      await post(path, { photo_url: null })
      const retry = await post(path, body, RETRY)
      await server.close()
      expectRun(retry)
      expect((await chat(id)).photo_url).toBe(retry.body.data.group_photo.url)
      expect((await group(id)).group_photo).toEqual(retry.body.data.group_photo)
      await post(path, { photo_url: null }, RETRY)
      expect((await chat(id)).photo_url).toBeNull()
    })

    it('a reaction', async () => {
      const { message_handle } = await world.send()
      await world.advance(1000)
      const path = '/api/send-reaction'
      const body = { from_number: LINE, message_handle, reaction: 'love' }
      const shown = async () =>
        (await world.inbox(ADA)).find((one) => one.message_handle === message_handle).reactions
      await again(
        path,
        body,
        () => post(path, { ...body, reaction: '-love' }),
        async () => expect(await shown()).toHaveLength(1),
      )
    })

    it('that a conversation is read', async () => {
      const unread = async () =>
        (await world.get(`/sim/phones/${ADA}/inbox?limit=1000`)).body.data.filter(
          (one: Json) => one.direction === 'out' && one.read_at === null,
        ).length
      const write = async () => {
        await world.text(ADA, 'Are you there?')
        await world.advance(1000)
      }
      await write()
      expect(await unread()).toBeGreaterThan(0)
      await again('/api/mark-read', { number: ADA, from_number: LINE }, write, async () =>
        expect(await unread()).toBe(0),
      )
    })

    it('typing', async () => {
      await world.send()
      await world.advance(1000)
      const path = '/api/send-typing-indicator'
      const typing = async () => (await world.get(`/sim/phones/${ADA}`)).body.typing
      await again(
        path,
        { number: ADA },
        () => post(path, { number: ADA, state: 'stop' }),
        async () => expect(await typing()).toEqual([LINE]),
      )
      await post(path, { number: ADA, state: 'stop' })
    })

    it("a line's name", async () => {
      const path = '/api/v2/contact-sharing/profile'
      const named = (firstName: string) => ({ fromNumber: LINE, firstName })
      const shown = async () => {
        await world.advance(1000)
        return (await world.get(`/api/v2/contact-sharing/state?fromNumber=${LINE}`)).body.data.firstName
      }
      for (const [name, headers] of [
        ['A', {}],
        ['B', {}],
        ['A', RETRY],
      ] as const) {
        expectRun(await post(path, named(name), headers), 202)
        expect(await shown()).toBe(name)
      }
    })
  })

  describe('what a request made is told again while it is there, and made again when it is not', () => {
    /** The first answer, its repeat, the end of what was made, and a retry whose first try got lost. */
    async function remade(path: string, body: Json, end: (first: Json) => Promise<unknown>, as?: Who) {
      const first = await post(path, body, {}, as)
      const repeat = await post(path, body, RETRY, as)
      expect([repeat.status, repeat.headers['x-idempotent-replay']]).toEqual([first.status, 'true'])
      await end(first.body)
      const [one, two] = await Promise.all([post(path, body, RETRY, as), post(path, body, RETRY, as)])
      // Two of them at once are one.
      expect([one!, two!].filter((reply) => reply.headers['x-idempotent-replay'])).toHaveLength(1)
      expect([one!.status, two!.status]).toEqual([first.status, first.status])
      return { first: first.body, repeat: repeat.body, retry: one!.body, other: two!.body }
    }
    const remove = (path: string, as?: Who) => world.call('DELETE', path, as ? { as } : {})

    it.each(['/api/v2/contacts', '/api/contacts'])('a contact at %s', async (path) => {
      const [number] = fresh(1) as [string]
      const { first, repeat, retry, other } = await remade(path, { number, first_name: 'A' }, () =>
        remove(`/api/v2/contacts/${number}`),
      )
      expect(repeat).toEqual(first)
      expect(other).toEqual(retry)
      expect(retry.contact.contact_id).not.toBe(first.contact.contact_id)
      expect((await contact(number)).contact_id).toBe(retry.contact.contact_id)
    })

    it('a contact that was changed since is not told as it was', async () => {
      const [number] = fresh(1) as [string]
      await post('/api/v2/contacts', { number, first_name: 'A' })
      await world.advance(1)
      await world.call('PUT', `/api/v2/contacts/${number}`, { body: { first_name: 'B' } })
      expect((await post('/api/v2/contacts', { number, first_name: 'A' }, RETRY)).status).toBe(409)
      expect((await contact(number)).first_name).toBe('B')
    })

    it('a verification: its code is one that can be answered', async () => {
      const service = (await post('/api/v2/verify/services', { friendly_name: 'Acme', ttl_seconds: 60 })).body
      const path = `/api/v2/verify/services/${service.sid}/verifications`
      const status = async (sid: string) => (await world.get(`${path}/${sid}`)).body.status
      const canceled = await remade(path, { to: ADA }, (first) => remove(`${path}/${first.sid}`))
      expect(canceled.repeat).toEqual(canceled.first)
      expect(canceled.other).toEqual(canceled.retry)
      expect(await status(canceled.retry.sid)).toBe('pending')
      const expired = await post(path, { to: ADA }, RETRY)
      await world.advance(61_000)
      const anew = await post(path, { to: ADA }, RETRY)
      expect(await status(expired.body.sid)).toBe('expired')
      expect(await status(anew.body.sid)).toBe('pending')
      // Canceling is for good.
      const cancel = `${path}/${anew.body.sid}`
      for (const headers of [{}, RETRY])
        expect((await post(cancel, { status: 'canceled' }, headers)).body.status).toBe('canceled')
    })

    it.each([
      ['/api/v2/verify/services', { friendly_name: 'Acme' }, (made: Json) => made.sid],
      ['/api/v2/totp/secrets', { label: 'Acme' }, (made: Json) => made.totp_secret.id],
    ])('%s', async (path, body, idOf) => {
      const { first, retry } = await remade(path, body, (made) => remove(`${path}/${idOf(made)}`))
      expect(idOf(retry)).not.toBe(idOf(first))
      expect((await world.get(`${path}/${idOf(retry)}`)).status).toBe(200)
    })

    it('what operators make', async () => {
      const account_id = (await world.get('/admin/accounts', 'admin')).body.data[0].id
      for (const [path, body] of [
        ['/admin/accounts', { email: 'again@example.com' }],
        ['/admin/keys', { account_id, label: 'again' }],
        ['/admin/seats', { account_id, email: 'seat@example.com' }],
        ['/admin/lines', { account_id, number: '+12025550188' }],
      ] as const) {
        const { first, retry } = await remade(
          path,
          body,
          ({ id }) => remove(`${path}/${id}`, 'admin'),
          'admin',
        )
        expect(retry.id).not.toBe(first.id)
        expect((await world.get(`${path}/${retry.id}`, 'admin')).body).not.toMatchObject({
          revoked_at: expect.any(String),
        })
      }
    })
  })

  it('what is sent is sent once, also when it is deleted since', async () => {
    const [number] = fresh(1) as [string]
    const { message_handle } = await world.send({ number, content: 'once' })
    await world.advance(1000)
    await world.call('DELETE', `/api/message/${message_handle}`)
    expect((await world.send({ number, content: 'once' }, 'live', RETRY)).message_handle).toBe(message_handle)
    await world.advance(1000)
    expect(await world.inbox(number)).toHaveLength(1)
  })
})
