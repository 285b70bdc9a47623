// Thirty days of a small business, in a world whose clock is moved: what the time machine is measured and tested by.

const DAY = 86_400_000
const START = Date.parse('2026-03-01T12:00:00.000Z')
const SENDS = 200
const DAILY_LIMIT = 8

const phoneOf = (i) => `+120255501${String(10 + (i % 12)).padStart(2, '0')}`
const at = (ms) => new Date(START + ms).toISOString()

/** Lives through them; what was seen on the way, and the whole event log. */
export async function liveAMonth(createTrunkline, seed) {
  const world = await createTrunkline({ seed, time: START })
  try {
    const startedAt = performance.now()
    const cpuBefore = process.cpuUsage()
    const facts = await live(world)
    const cpu = process.cpuUsage(cpuBefore)
    return {
      ...facts,
      log: await world.eventLog(),
      seconds: (performance.now() - startedAt) / 1000,
      cpuSeconds: (cpu.user + cpu.system) / 1e6,
    }
  } finally {
    await world.close()
  }
}

async function live(world) {
  const facts = { codes: [], tokens: [] }
  let token
  await world.webhooks.listen()
  await world.setLine({ daily_limit: DAILY_LIMIT, pace: 1 })
  await world.phone(phoneOf(3)).set({ autoReply: 'Thank you!' })
  await world.phone(phoneOf(4)).set({ power: false })
  for (let i = 0; i < SENDS; i++) {
    // Two days have far more than a day may have.
    const due = i % 10 === 9 ? (i < SENDS / 2 ? 6 : 16) * DAY : (i / SENDS) * 28 * DAY + 3_600_000
    const body = {
      from_number: world.line,
      number: phoneOf(i),
      content: `Appointment ${i}`,
      send_at: at(Math.round(due)),
    }
    await world.request('POST', '/api/send-message', body)
  }
  const { sid } = await world.request('POST', '/api/v2/verify/services', {
    friendly_name: 'Shop',
    ttl_seconds: 600,
  })
  const { totp_secret: secret } = await world.request('POST', '/api/v2/totp/secrets', { label: 'Till' })

  for (let day = 1; day <= 30; day++) {
    if (day === 3 || day === 11 || day === 23) world.webhooks.fail({ times: 4 + day })
    if (day === 9) await world.phone(phoneOf(4)).set({ power: true })
    if (day === 14) await world.phone(phoneOf(5)).set({ power: false })
    if (day === 17) await world.phone(phoneOf(5)).set({ power: true })
    if (day === 20) await world.phone(phoneOf(7)).text('STOP')
    if (day === 25) await world.setLine({ config: { latency_ms: 150, fault: 'unreachable', fault_times: 5 } })
    if (day % 3 === 0) facts.codes.push((await world.request('GET', `/api/v2/totp/code/${secret.id}`)).code)
    if (day % 5 === 0) {
      const phone = world.phone(phoneOf(day))
      const verification = await world.request('POST', `/api/v2/verify/services/${sid}/verifications`, {
        to: phone.number,
      })
      const { code, pool_number: to } = verification.delivery_target
      if (day % 10 === 0) await phone.text({ content: code, to })
    }
    if (day % 6 === 0)
      token = (await world.request('POST', '/v3/auth/tokens', { expires_in_seconds: 3600 })).token
    const first = token && (await lets(world, token))
    await world.advance('1d')
    if (first) facts.tokens.push({ first, later: await lets(world, token) })
  }
  const { received, failed } = world.webhooks
  facts.webhooks = {
    received: received.length,
    failed: failed.length,
    attempts: received.map(({ attempt }) => attempt),
  }
  return facts
}

async function lets(world, token) {
  const answer = await fetch(`${world.url}/api/lines`, { headers: { authorization: `Bearer ${token}` } })
  await answer.text()
  return answer.status === 200
}
