import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { type Clock, createClock } from '../../../src/base/clock.js'
import type { ProbeHost } from '../../../src/drivers/host.js'
import { smpp } from '../../../src/drivers/smpp/smpp.js'
import { createSmsc, type Smsc } from '../../peers/smsc.js'
import { CERT, KEY } from '../../support/web/tls.js'

const BROKEN = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----'

describe('the probe of an SMPP line', () => {
  let smsc: Smsc | undefined
  let clock: Clock
  afterEach(async () => {
    await smsc?.close()
    smsc = undefined
    clock.stop()
  })
  const probe = async (config: Record<string, unknown>) => {
    clock = createClock()
    const settings = { host: '127.0.0.1', system_id: 'trunkline', password: 'hunter2!', ...config }
    const findings = await smpp.probe!({ number: '+12025550100', config: settings }, {
      clock,
    } as unknown as ProbeHost)
    expect(JSON.stringify(findings)).not.toContain('hunter2!')
    return findings
  }
  const words = async (config: Record<string, unknown>) =>
    (await probe(config)).map(({ ok, what, advice }) =>
      [ok ? 'ok' : 'no', what, ...(advice ? [advice] : [])].join(' | '),
    )

  it('binds and unbinds, and accepts no messages in between', async () => {
    smsc = await createSmsc()
    const { port } = smsc
    smsc.options.bind = () => {
      setImmediate(
        () =>
          smsc!.binds() > 0 &&
          void smsc!.bring({ command: 'deliver_sm', shortMessage: Buffer.from('Hello') }),
      )
      return 0
    }
    expect(await words({ port, host: 'localhost' })).toEqual([
      'ok | localhost resolves to an address',
      `ok | Port ${port} accepts connections`,
      'ok | The carrier accepted the bind as a transceiver',
    ])
    const heard = smsc.heard.map(({ command, status }) => (status ? `${command} ${status}` : command))
    expect(heard.filter((one) => one !== 'deliver_sm_resp 20')).toEqual(['bind_transceiver', 'unbind'])
    expect(await words({ port, bind: 'pair' })).toContain(
      'ok | The carrier accepted the bind as a transmitter',
    )
  })

  it.each([
    [0x0e, 'the carrier does not accept the password (ESME_RINVPASWD) | Check password.'],
    [0x0f, 'the carrier does not know the system_id (ESME_RINVSYSID) | Check system_id.'],
    [0x05, 'already bound (ESME_RALYBND) | Another program uses it'],
    [0x0d, 'without a reason (ESME_RBINDFAIL) | Ask the carrier whether the account is active'],
    [0x400, 'the carrier refused the bind (0x00000400) | Ask the carrier why.'],
  ])('refused with %d', async (status, expected) => {
    smsc = await createSmsc({ bind: () => status })
    const found = await words({ port: smsc.port })
    expect(found).toEqual([`ok | Port ${smsc.port} accepts connections`, expect.stringContaining(expected)])
    expect(found[1]!.startsWith('no | ')).toBe(true)
  })

  it('reports an unknown host and a closed port', async () => {
    smsc = await createSmsc()
    const { port } = smsc
    await smsc.close()
    expect(await words({ port })).toEqual([
      'no | the host refuses connections on this port | Check host and port, and ask the carrier whether it allows your IP address.',
    ])
    const [found] = await probe({ port, host: 'smsc.invalid' })
    expect(found).toMatchObject({ ok: false, what: expect.stringMatching(/^smsc\.invalid: /) })
  })

  it('explains TLS mismatches and certificate problems', async () => {
    smsc = await createSmsc()
    expect((await words({ port: smsc.port, tls: true })).at(-1)).toMatch(
      /^no \| .*TLS.* \| .*set tls to false/,
    )
    await smsc.close()
    smsc = await createSmsc({ tls: { key: KEY, cert: CERT } })
    const { port } = smsc
    expect((await words({ port })).at(-1)).toBe(
      'no | the carrier requires TLS on this port | Set tls to true.',
    )
    const trusted = { port, tls: true, tls_name: 'files.example' }
    expect((await words(trusted)).at(-1)).toMatch(/^no \| .*unknown authority \\| .*tls_ca/)
    expect((await words({ ...trusted, tls_name: 'x.example', tls_ca: CERT })).at(-1)).toMatch(/another name/)
    expect((await words({ ...trusted, tls_ca: BROKEN })).at(-1)).toMatch(
      /^no \| tls_ca: is not a certificate \| .*PEM/,
    )
    expect(await words({ ...trusted, tls_ca: CERT })).toEqual([
      `ok | Port ${port} accepts connections`,
      'ok | TLS works, and the certificate of the carrier is valid',
      'ok | The carrier accepted the bind as a transceiver',
    ])
  })

  it('reports a host that never answers', async () => {
    const sockets = new Set<{ destroy(): void }>()
    const server = createServer((socket) => sockets.add(socket))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    clock = createClock(1_000_000)
    const config = { host: '127.0.0.1', port, system_id: 'x', password: 'y', tls: true }
    const connected = once(server, 'connection')
    const found = smpp.probe!({ number: '+12025550100', config }, { clock } as unknown as ProbeHost)
    await connected
    await clock.advance(10_000, async () => {})
    expect((await found).at(-1)).toMatchObject({ ok: false, advice: expect.stringContaining('TLS') })
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
})
