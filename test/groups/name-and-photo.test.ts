import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { GIF, PNG, serve } from '../support/files.js'
import {
  createWorld,
  credentials,
  ENGINES,
  type Json,
  LINE,
  SHARED_LINE,
  type World,
} from '../support/world.js'
import { fresh, groupsIn } from './support.js'

describe.each(ENGINES)('groups on %s', (engine) => {
  let world: World
  beforeAll(async () => {
    world = await createWorld(engine)
  })
  afterAll(() => world.close())

  const { send, group, chat, made } = groupsIn(() => world)

  describe('name and photo', () => {
    const name = (id: string, body: Json) => world.post(`/api/v2/groups/${id}/name`, body)
    const photo = (id: string, body: Json) => world.post(`/api/v2/groups/${id}/photo`, body)

    it('the name is what phones show', async () => {
      const [a, b] = fresh(2) as [string, string]
      const id = await made([a, b])
      await world.advance(1000)
      const renamed = await name(id, { group_name: 'Project Falcon 🦅' })
      expect(renamed.body).toEqual({
        status: 'OK',
        data: { group_id: id, group_name: 'Project Falcon 🦅', from_number: LINE },
      })
      expect((await chat(id)).name).toBe('Project Falcon 🦅')
      const { created_at, updated_at } = await group(id)
      expect(Date.parse(updated_at)).toBeGreaterThan(Date.parse(created_at))
      const { body } = await send({ group_id: id })
      expect(body.group_display_name).toBe('Project Falcon 🦅')
      await world.advance(1000)
      expect((await world.inbox(a)).at(-1).group.name).toBe('Project Falcon 🦅')
      for (const cleared of ['', null]) {
        await name(id, { group_name: 'again', from_number: LINE })
        const answer = await name(id, { group_name: cleared, from_number: null })
        expect(answer.body.data).toEqual({ group_id: id, group_name: '', from_number: LINE })
        expect((await chat(id)).name).toBeNull()
      }
    })

    it('the photo is what phones show: a copy of ours, whatever becomes of where it was', async () => {
      const id = await made(fresh(2))
      for (const [image, extension] of [
        [PNG, 'png'],
        [GIF, 'gif'],
      ] as const) {
        const server = await serve((_request, response) => response.end(image))
        const set = await photo(id, { photo_url: `${server.url}/team.bin` })
        await server.close()
        const { url } = set.body.data.group_photo
        expect(set.body).toEqual({
          status: 'OK',
          data: { group_id: id, group_photo: { photo_guid: expect.any(String), url }, from_number: LINE },
        })
        expect(url).toMatch(new RegExp(`/media/\\w+\\.${extension}$`))
        expect(Buffer.from(await (await fetch(url)).arrayBuffer())).toEqual(image)
        expect((await chat(id)).photo_url).toBe(url)
        expect((await group(id)).group_photo).toEqual(set.body.data.group_photo)
      }
      expect((await photo(id, { photo_url: null })).body.data.group_photo).toBeNull()
      expect((await chat(id)).photo_url).toBeNull()
      expect((await group(id)).group_photo).toBeNull()
    })

    it('the photo may come as a file', async () => {
      const id = await made(fresh(2))
      const upload = async (parts: [string, string | Blob][], key?: string) => {
        const form = new FormData()
        for (const [name, value] of parts) form.append(name, value)
        const response = await fetch(`${world.app.url()}/api/v2/groups/${id}/photo`, {
          method: 'POST',
          headers: { ...credentials('live'), ...(key ? { 'idempotency-key': key } : {}) },
          body: form,
        })
        return { status: response.status, body: (await response.json()) as Json }
      }
      const file = (bytes: Buffer) => new Blob([new Uint8Array(bytes)], { type: 'image/png' })
      const set = await upload(
        [
          ['from_number', LINE],
          ['file', file(PNG)],
        ],
        'photo-1',
      )
      expect(set).toMatchObject({ status: 200, body: { data: { group_id: id, from_number: LINE } } })
      const { url } = set.body.data.group_photo
      expect(Buffer.from(await (await fetch(url)).arrayBuffer())).toEqual(PNG)
      expect((await chat(id)).photo_url).toBe(url)
      expect(
        (
          await upload(
            [
              ['from_number', LINE],
              ['file', file(PNG)],
            ],
            'photo-1',
          )
        ).body,
      ).toEqual(set.body)
      expect(
        (
          await upload(
            [
              ['from_number', LINE],
              ['file', file(GIF)],
            ],
            'photo-1',
          )
        ).status,
      ).toBe(422)
      for (const [parts, message] of [
        [[['from_number', LINE]], /missing required parameter: file/],
        [[['file', file(Buffer.from('<html>'))]], /^file: is not an image of these types/],
        [[['file', file(Buffer.concat([PNG, Buffer.alloc(5_000_000)]))]], /^file: is larger than 5 MB/],
        [[['photo', file(PNG)]], /^file: send exactly one file/],
        [
          [
            ['file', file(PNG)],
            ['file', file(PNG)],
          ],
          /^file: send exactly one file/,
        ],
        [
          [
            ['photo_url', 'https://a.example/b.png'],
            ['file', file(PNG)],
          ],
          /^photo_url: give either/,
        ],
        [
          [
            ['from_number', '+12025550159'],
            ['file', file(PNG)],
          ],
          /^from_number: /,
        ],
        [
          [
            ['from_number', 'x'],
            ['file', file(PNG)],
          ],
          /^from_number: /,
        ],
      ] as [[string, string | Blob][], RegExp][]) {
        const refused = await upload(parts)
        expect([refused.status, refused.body.message]).toEqual([400, expect.stringMatching(message)])
      }
      expect((await chat(id)).photo_url).toBe(url)
    })

    it('a photo that is none, is too large or is somewhere else is refused, and the old one stays', async () => {
      const id = await made(fresh(2))
      const wide = Buffer.from(PNG)
      wide.writeUInt32BE(5001, 16)
      wide.writeUInt32BE(5000, 20)
      const files: Record<string, Buffer> = {
        '/page.png': Buffer.from('<html></html>'),
        '/large.png': Buffer.concat([PNG, Buffer.alloc(5_000_000)]),
        '/wide.png': wide,
        '/good.png': PNG,
      }
      const server = await serve((request, response) => {
        if (request.url === '/moved.png') return response.writeHead(302, { location: '/good.png' }).end()
        const file = files[request.url!]
        return file ? response.end(file) : response.writeHead(404).end()
      })
      await photo(id, { photo_url: `${server.url}/good.png` })
      const before = await group(id)
      for (const [path, text] of [
        ['/page.png', /^photo_url: is not an image of these types: JPEG, PNG, GIF/],
        ['/large.png', /^photo_url: is larger than 5 MB/],
        ['/wide.png', /^photo_url: is 5001 x 5000 pixels/],
        ['/none.png', /^photo_url: answered 404/],
        ['/moved.png', /^photo_url: redirects/],
      ] as const) {
        const answer = await photo(id, { photo_url: server.url + path })
        expect([path, answer.status]).toEqual([path, 400])
        expect(answer.body.message).toMatch(text)
      }
      expect(await group(id)).toEqual(before)
      await server.close()
    })

    it('refuses what is not one', async () => {
      const id = await made(fresh(2))
      const cases: [Promise<{ status: number; body: Json }>, RegExp][] = [
        [name(id, {}), /missing required parameter: group_name/],
        [name(id, { group_name: '   ' }), /^group_name: .*only spaces/],
        [name(id, { group_name: '\n\t' }), /^group_name: .*only spaces/],
        [name(id, { group_name: 7 }), /^group_name: /],
        [name(id, { group_name: 'x'.repeat(251) }), /^group_name: /],
        [name(id, { group_name: 'a\0b' }), /NUL/],
        [name(id, { group_name: 'x', from_number: SHARED_LINE }), /^from_number: /],
        [name(id, { group_name: 'x', from_number: 'x' }), /^from_number: /],
        [photo(id, {}), /missing required parameter: photo_url/],
        [photo(id, { photo_url: 'http://example.com/a.png' }), /^photo_url: must be an https URL/],
        [photo(id, { photo_url: 'https://192.168.1.1/a.png' }), /^photo_url: /],
        [photo(id, { photo_url: 'data:image/png;base64,AAAA' }), /^photo_url: /],
        [photo(id, { photo_url: 5 }), /^photo_url: /],
      ]
      for (const [call, text] of cases) {
        const answer = await call
        expect(answer.status).toBe(400)
        expect(answer.body.message).toMatch(text)
      }
      expect((await name('none', { group_name: 'x' })).body).toMatchObject({ error: 'group_not_found' })
      expect((await photo('none', { photo_url: null })).status).toBe(404)
      expect((await world.get('/api/v2/groups/none')).status).toBe(404)
      expect((await world.get(`/api/v2/groups/${'x'.repeat(400)}`)).status).toBe(404)
    })

    it('a line that lost its groups cannot', async () => {
      const id = await made(fresh(2))
      await world.setLine(LINE, { config: { mac: false } })
      expect((await photo(id, { photo_url: null })).body).toMatchObject({ error: 'unsupported_line' })
      expect((await name(id, { group_name: 'x' })).body).toMatchObject({ error: 'unsupported_line' })
      await world.setLine(LINE, { config: {} })
    })
  })
})
