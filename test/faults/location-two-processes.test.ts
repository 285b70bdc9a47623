import { expect, it } from 'vitest'
import { eventually, spawnServer, temporaryStorage } from '../support/server.js'
import { follow } from '../support/web/sse.js'
import { ADA, credentials, type Json, LINE } from '../support/world.js'
import { get, post } from './ledger.js'

const PARIS = { latitude: 48.8584, longitude: 2.2945 }
const ROME = { latitude: 41.8902, longitude: 12.4922 }
const QUERY = `from_number=${encodeURIComponent(LINE)}`

it('places are read, watched and shared at either process, whichever drives the line', async () => {
  const storage = await temporaryStorage('postgres')
  const env = { ...storage, TRUNKLINE_LEASE_MS: '1000', LOG_LEVEL: 'silent' }
  const servers = await Promise.all([1, 2].map(() => spawnServer({ env })))
  const driving = async () => {
    const lists = await Promise.all(servers.map(({ url }) => get(url, '/admin/lines', 'admin')))
    return lists.map(({ data }) =>
      data.some((line: Json) => line.number === LINE && line.world === 'live' && line.driven_here),
    )
  }
  await eventually(driving, (drives) => drives.filter(Boolean).length === 1)
  const phone = (url: string, method: string, body: object) =>
    fetch(`${url}/sim/phones/${ADA}/location`, {
      method,
      headers: { ...credentials('live'), 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })

  const followers = await Promise.all(
    servers.map(({ url }) => follow({ app: { url: () => url } }, `/api/location/${ADA}/watch?${QUERY}`)),
  )
  for (const follower of followers) {
    expect(await follower.next()).toMatchObject({ event: 'ready' })
    expect(await follower.next()).toMatchObject({ data: { state: 'not_shared' } })
  }
  // The phone acts at each of the two in turn, and both watches see it.
  expect((await phone(servers[0]!.url, 'PUT', { to: LINE, ...PARIS })).status).toBe(200)
  for (const follower of followers) expect((await follower.next())!.data.location).toMatchObject(PARIS)
  expect((await phone(servers[1]!.url, 'PATCH', ROME)).status).toBe(200)
  for (const follower of followers) expect((await follower.next())!.data.location).toMatchObject(ROME)
  for (const { url } of servers) {
    expect(await get(url, `/api/location/${ADA}?${QUERY}`)).toMatchObject({ location: ROME })
    expect((await get(url, `/api/location?${QUERY}`)).locations).toMatchObject([{ number: ADA }])
  }

  // A profile asked for at the process that does not drive the line.
  const other = servers[(await driving()).indexOf(false)]!
  const path = '/api/v2/contact-sharing'
  expect((await post(other.url, `${path}/profile`, { fromNumber: LINE, firstName: 'Far' })).status).toBe(202)
  const state = () => get(other.url, `${path}/state?fromNumber=${encodeURIComponent(LINE)}`)
  await eventually(state, (answer) => answer.data?.firstName === 'Far')

  // The one that drives the line dies: the watch at the other goes on, or says why it does not.
  const driver = servers[(await driving()).indexOf(true)]!
  await driver.kill('SIGKILL')
  const survivor = followers[servers.indexOf(other)]!
  await eventually(
    () => get(other.url, '/admin/lines', 'admin'),
    ({ data }) => data.every((line: Json) => line.driven_here),
  )
  await phone(other.url, 'PATCH', PARIS)
  const news = await survivor.next()
  expect([news!.data.reason ?? 'moved', news!.data.location?.latitude]).toEqual(['moved', PARIS.latitude])
  expect(await other.kill('SIGTERM')).toMatchObject({ code: 0 })
})
