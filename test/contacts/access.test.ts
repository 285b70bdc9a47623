import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Account } from '../../src/core/accounts/account.js'
import {
  changeContact,
  findVisible,
  ownerOf,
  putContacts,
  removeContacts,
  scopeFor,
  setOptOut,
} from '../../src/services/contacts/contacts.js'
import type { Actor } from '../../src/services/messages/outbound.js'
import { registerContact, sharedLineOf, verifyContact } from '../../src/services/verify/verified-contacts.js'
import { findAccountByEmail } from '../../src/storage/accounts/accounts.js'
import { countAllContacts } from '../../src/storage/contacts/contacts.js'
import { listContactIds, readContacts } from '../../src/storage/contacts/list.js'
import {
  ADA,
  createWorld,
  ENGINES,
  type Json,
  LINE,
  type Reply,
  SHARED_LINE,
  type Who,
  type World,
} from '../support/world.js'

const B_LINE = '+12025550150'
const NOBODY = '+12025550188'
const THEIRS = '+13035580001'
const MINE = '+13035580002'

describe.each(ENGINES)('who may see a contact on %s', (engine) => {
  let world: World
  let b: Awaited<ReturnType<World['addAccount']>>
  let theirs: Json
  beforeAll(async () => {
    world = await createWorld(engine)
    b = await world.addAccount('b@example.com', B_LINE)
    const post = (body: Json, as?: Who) => world.post('/api/v2/contacts', body, as)
    theirs = (await post({ number: THEIRS, first_name: 'contact-canary', tags: ['canary'] }, b.live)).body
      .contact
    await post({ number: MINE })
    await world.post('/v3/verified-contacts', { phone_number: THEIRS }, b.live)
  })
  afterAll(() => world.close())

  /** Both answers, with the value that was asked for taken out. */
  const compare = async (ask: (value: string) => Promise<Reply>, others: string, absent: string) => {
    const plain = async (value: string) => {
      const { status, body } = await ask(value)
      return { status, body: JSON.stringify(body).replaceAll(value, '<asked>') }
    }
    const answer = await plain(absent)
    expect(await plain(others)).toEqual(answer)
    return answer.status
  }

  it("another account's contact answers as an absent one", async () => {
    const at = (phone: string) => `/api/v2/contacts/${phone}`
    expect(await compare((phone) => world.get(at(phone)), THEIRS, NOBODY)).toBe(404)
    expect(
      await compare((phone) => world.call('PUT', at(phone), { body: { first_name: 'x' } }), THEIRS, NOBODY),
    ).toBe(404)
    expect(await compare((phone) => world.call('DELETE', at(phone)), THEIRS, NOBODY)).toBe(404)
    expect(await compare((phone) => world.get(`/v3/verified-contacts/${phone}`), THEIRS, NOBODY)).toBe(404)
    const remove = (id: string) => world.call('DELETE', '/api/v2/contacts', { body: { contact_ids: [id] } })
    expect((await remove(THEIRS)).body.amount).toBe(0)
    expect((await remove(theirs.contact_id)).body.amount).toBe(0)
    for (const query of [`cid=${theirs.contact_id}`, `phone_number=${THEIRS}`]) {
      expect((await world.get(`/api/v2/contacts?${query}`)).body).toEqual([])
    }
    expect((await world.get(at(THEIRS), b.live)).body.contact).toEqual(theirs)
  })

  it('lists, counts and the test world show only the own', async () => {
    const shown = async (as: Who) => {
      const paths = [
        '/api/v2/contacts',
        '/api/v2/contacts/count',
        '/v3/verified-contacts',
        '/accounts/shared-contacts',
      ]
      return JSON.stringify(await Promise.all(paths.map(async (path) => (await world.get(path, as)).body)))
    }
    for (const as of ['live', 'test', b.test] as Who[]) {
      expect(await shown(as)).not.toMatch(new RegExp(`canary|${THEIRS.slice(1)}|${theirs.contact_id}`))
    }
    expect(await shown(b.live)).toContain('canary')
    expect((await world.get('/api/v2/contacts/count')).body.count).toBe(1)
    expect((await world.get('/api/v2/contacts/count', 'test')).body.count).toBe(0)
  })

  it('both accounts may have the same number, each with its own consent', async () => {
    await world.post('/api/v2/contacts', { number: THEIRS, first_name: 'Mine too' })
    await world.post('/api/v2/contacts/opt-out', { number: THEIRS })
    expect((await world.get(`/api/v2/contacts/${THEIRS}`)).body.contact).toMatchObject({
      first_name: 'Mine too',
      opt_out: true,
    })
    expect((await world.get(`/api/v2/contacts/${THEIRS}`, b.live)).body.contact).toEqual(theirs)
  })

  it("verifying another account's contact is like verifying a new number", async () => {
    const [theirs, fresh] = ['+13035570001', '+13035570002']
    await world.post('/api/v2/contacts', { number: theirs }, b.live)
    const verify = (number: string) => world.post('/api/v2/contacts/verify', { number })
    expect(await compare(verify, theirs, fresh)).toBe(200)
    expect((await world.get(`/api/v2/contacts/${theirs}`, b.live)).body.contact.sendblue_number).not.toBe(
      LINE,
    )
    for (const as of ['live', b.live] as const)
      await world.call('DELETE', '/api/v2/contacts', { as, body: { contact_ids: [theirs, fresh] } })
  })

  it('nobody without a key of an account gets in', async () => {
    const routes = [
      'GET /api/v2/contacts',
      'POST /api/v2/contacts',
      'POST /api/contacts',
      'DELETE /api/v2/contacts',
      'GET /api/v2/contacts/count',
      'POST /api/v2/contacts/verify',
      'POST /api/v2/contacts/opt-out',
      'POST /api/v2/contacts/bulk',
      `GET /api/v2/contacts/${ADA}`,
      `PUT /api/v2/contacts/${ADA}`,
      `DELETE /api/v2/contacts/${ADA}`,
      'GET /v3/verified-contacts',
      'POST /v3/verified-contacts',
      `GET /v3/verified-contacts/${ADA}`,
      'GET /accounts/shared-contacts',
      'POST /accounts/verify-contact-on-shared-account',
    ]
    for (const route of routes) {
      const [method, path] = route.split(' ') as [string, string]
      const ask = async (as: Who) =>
        (await world.call(method, path, { as, ...(method === 'GET' ? {} : { body: {} }) })).status
      expect([route, await ask(null), await ask('admin')]).toEqual([route, 401, 403])
      expect([route, await ask({ id: 'dev-live-key', secret: 'wrong' })]).toEqual([route, 401])
    }
  })

  describe('a token confined to one line', () => {
    let account: Account
    let confined: Actor
    let other: Actor
    const page = { order: 'created', descending: false, limit: 100, offset: 0 } as const
    const onLine = ['+13035580011', '+13035580012', '+13035580013']
    const elsewhere = ['+13035580021', '+13035580022']
    beforeAll(async () => {
      account = (await findAccountByEmail(world.app.ctx.db, 'dev@trunkline.local', 'live'))!
      confined = { account, numbers: new Set([LINE]) }
      other = { account, numbers: new Set([SHARED_LINE]) }
      const rows = [
        ...onLine.map((phone, i) => ({
          phone,
          sendblue_number: LINE,
          first_name: 'cba'[i],
          last_name: 'bca'[i],
        })),
        { phone: elsewhere[0], sendblue_number: SHARED_LINE },
        { phone: elsewhere[1] },
      ]
      expect((await world.post('/api/v2/contacts/bulk', { contacts: rows })).status).toBe(200)
    })
    const put = async (actor: Actor, phone: string, fields: Json, update = false) => {
      const { ctx } = world.app
      const owner = await ownerOf(ctx, actor)
      const [contact] = await ctx.db.tx((sql) =>
        putContacts(ctx, sql, owner, [{ at: '', phone, fields }], update),
      )
      return contact!
    }
    const list = async (actor: Actor, changes: Json = {}) => {
      const { db } = world.app.ctx
      const ids = (await listContactIds(db, scopeFor(actor), { ...page, ...changes })).flat()
      return (await readContacts(db, actor.account.id, ids)).map(({ phone }) => phone)
    }

    it('lists and counts only the contacts of that line, in every order', async () => {
      const { db } = world.app.ctx
      const [x, y, z] = onLine
      expect(await list(confined)).toEqual(onLine)
      expect(await list(confined, { order: 'firstName' })).toEqual([z, y, x])
      expect(await list(confined, { order: 'lastName' })).toEqual([z, x, y])
      expect(await list(confined, { order: 'phone', descending: true })).toEqual([z, y, x])
      expect(await list(confined, { limit: 1, offset: 1 })).toEqual([y])
      expect(await list(other)).toEqual([elsewhere[0]])
      expect(await list({ account, numbers: new Set() })).toEqual([])
      const both = { account, numbers: new Set([LINE, SHARED_LINE]) }
      expect((await list(both)).sort()).toEqual([...onLine, elsewhere[0]].sort())
      expect(await list(both, { limit: 2, offset: 2 })).toHaveLength(2)
      expect(await countAllContacts(db, scopeFor(confined))).toBe(3)
      expect(await countAllContacts(db, scopeFor(both))).toBe(4)
    })

    it('reads, changes and deletes no other', async () => {
      const { ctx } = world.app
      for (const phone of [...elsewhere, NOBODY]) {
        const absent = { code: 'not_found', message: `There is no contact ${phone}` }
        await expect(findVisible(ctx.db, confined, phone)).rejects.toMatchObject(absent)
        await expect(
          changeContact(ctx, confined, phone, { firstName: 'x' }, undefined),
        ).rejects.toMatchObject(absent)
        await expect(ctx.db.tx((sql) => setOptOut(ctx, sql, confined, phone, true))).rejects.toMatchObject(
          absent,
        )
      }
      const identity = { accountId: account.id, path: '/x', hash: 'x', retryCount: 0 }
      await verifyContact(ctx, confined, elsewhere[0]!, identity)
      await expect(findVisible(ctx.db, confined, elsewhere[0]!)).rejects.toMatchObject({ code: 'not_found' })
      expect(await removeContacts(ctx, confined, { phones: elsewhere, ids: [] })).toBe(0)
      expect((await changeContact(ctx, confined, onLine[0]!, { firstName: 'x' }, true)).firstName).toBe('x')
    })

    it('makes contacts of that line only, and moves none away', async () => {
      const made = await put(confined, '+13035580031', {})
      expect(made.lineNumber, 'the only one it can mean').toBe(LINE)
      await expect(put(confined, '+13035580032', { lineNumber: SHARED_LINE })).rejects.toMatchObject({
        code: 'invalid',
      })
      const both = { account, numbers: new Set([LINE, SHARED_LINE]) }
      await expect(put(both, '+13035580033', {})).rejects.toMatchObject({ code: 'invalid' })
      await expect(put(confined, elsewhere[0]!, { firstName: 'x' }, true)).rejects.toMatchObject({
        code: 'conflict',
      })
      await expect(
        changeContact(world.app.ctx, confined, made.phone, { lineNumber: null }, undefined),
      ).rejects.toMatchObject({ code: 'invalid' })
      expect(await removeContacts(world.app.ctx, confined, { phones: [made.phone], ids: [] })).toBe(1)
      expect(await countAllContacts(world.app.ctx.db, scopeFor(confined))).toBe(3)
    })

    it('is kept to its line over HTTP, too', async () => {
      const minted = await world.post('/v3/auth/tokens', { phone_number: LINE })
      const headers = { authorization: `Bearer ${minted.body.token}` }
      const call = (method: string, path: string, body?: Json) =>
        world.call(method, path, { as: null, headers, ...(body ? { body } : {}) })
      const contacts = '/api/v2/contacts'
      const listed = (await call('GET', `${contacts}?order_direction=asc`)).body
      expect(listed.map((contact: Json) => contact.phone)).toEqual(onLine)
      expect((await call('GET', `${contacts}/count`)).body.count).toBe(3)
      const absent = await call('GET', `${contacts}/${NOBODY}`)
      for (const phone of elsewhere) {
        const reply = await call('GET', `${contacts}/${phone}`)
        expect([reply.status, reply.body.message.replace(phone, NOBODY)]).toEqual([404, absent.body.message])
        expect((await call('PUT', `${contacts}/${phone}`, { first_name: 'x' })).status).toBe(404)
        expect((await call('DELETE', `${contacts}/${phone}`)).status).toBe(404)
      }
      const made = await call('POST', `${contacts}/bulk`, { contacts: [{ phone: '+13035580041' }] })
      expect(made.body.contacts).toMatchObject([{ sendblue_number: LINE }])
      const foreign = { contacts: [{ phone: '+13035580042' }, { phone: elsewhere[0] }] }
      const refused = await call('POST', `${contacts}/bulk`, foreign)
      expect([refused.status, refused.body.message]).toEqual([
        409,
        'contacts.1.phone: Contact already exists',
      ])
      const gone = await call('DELETE', contacts, { contact_ids: ['+13035580041', ...elsewhere] })
      expect(gone.body.amount).toBe(1)
      expect((await call('GET', '/v3/verified-contacts')).body.data).toEqual({ contacts: [], line: null })
      expect((await call('POST', '/v3/verified-contacts', { phone_number: NOBODY })).status).toBe(403)
    })

    it('has verified contacts only with the shared line', async () => {
      const { ctx } = world.app
      expect(await sharedLineOf(ctx, confined)).toBeUndefined()
      expect((await sharedLineOf(ctx, other))?.number).toBe(SHARED_LINE)
      await expect(
        ctx.db.tx((sql) => registerContact(ctx, sql, confined, undefined, NOBODY)),
      ).rejects.toMatchObject({ code: 'forbidden' })
    })
  })
})
