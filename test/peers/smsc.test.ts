import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { endWithUs } from '../support/watchdog.js'
import { createSmsc, type Smsc } from './smsc.js'

// biome-ignore lint/suspicious/noExplicitAny: the package has no types
type Any = any
const smpp = createRequire(import.meta.url)('smpp') as Any

/** Checks the test SMSC with independent SMPP clients. */
describe('the SMSC of the tests', () => {
  let smsc: Smsc
  beforeEach(async () => {
    smsc = await createSmsc()
  })
  afterEach(() => smsc.close())
  const soon = (what: () => void) => vi.waitFor(what, { timeout: 60_000, interval: 10 })

  describe('with the client of the npm package smpp', () => {
    let session: Any
    const ask = (command: string, fields: object = {}): Promise<Any> =>
      new Promise((resolve) => session[command](fields, resolve))
    beforeEach(async () => {
      session = smpp.connect({ url: `smpp://127.0.0.1:${smsc.port}`, auto_enquire_link_period: 0 })
      session.on('error', () => {})
      await new Promise((resolve) => session.on('connect', resolve))
    })
    afterEach(() => session.destroy())

    it('answers bind, submit, query and unbind', async () => {
      expect(await ask('bind_transceiver', { system_id: 'us', password: 'secret' })).toMatchObject({
        command: 'bind_transceiver_resp',
        command_status: 0,
        system_id: 'smsc',
      })
      const answer = await ask('submit_sm', { destination_addr: '12025550101', short_message: 'Hello' })
      expect(answer).toMatchObject({ command: 'submit_sm_resp', command_status: 0, message_id: 'ID1' })
      expect(smsc.submitted).toMatchObject([
        { messageId: 'ID1', pdu: { destination: '12025550101', shortMessage: Buffer.from('Hello') } },
      ])
      expect(await ask('enquire_link')).toMatchObject({ command: 'enquire_link_resp' })
      expect(await ask('unbind')).toMatchObject({ command: 'unbind_resp' })
    })

    it('refuses a bind and a submit, and throttles a submit', async () => {
      smsc.options.bind = () => 0x0e
      expect(await ask('bind_transceiver', {})).toMatchObject({ command_status: smpp.ESME_RINVPASWD })
      smsc.options.bind = undefined
      await ask('bind_transceiver', {})
      smsc.options.submit = () => ({ answer: 0x58 })
      expect(await ask('submit_sm', {})).toMatchObject({ command_status: smpp.ESME_RTHROTTLED })
      expect(smsc.submitted).toEqual([])
    })

    it('delivers a text, and a receipt with optional parameters', async () => {
      await ask('bind_receiver', {})
      const came: Any[] = []
      session.on('deliver_sm', (pdu: Any) => {
        came.push(pdu)
        session.send(pdu.response())
      })
      const text = { command: 'deliver_sm', source: '12025550101', shortMessage: Buffer.from('Hi') } as const
      expect(await smsc.bring(text)).toMatchObject({ command: 'deliver_sm_resp', status: 0 })
      expect(await smsc.report('ID7', 2)).toMatchObject({ status: 0 })
      expect(came[0]).toMatchObject({ source_addr: '12025550101', short_message: { message: 'Hi' } })
      expect(came[1]).toMatchObject({ esm_class: 4, receipted_message_id: 'ID7', message_state: 2 })
    })
  })

  const hasPerl = spawnSync('perl', ['-MNet::SMPP', '-e', '1']).status === 0
  it(`with Net::SMPP${hasPerl ? '' : ' (not installed here: apt-get install libnet-smpp-perl)'}`, async (test) => {
    if (!hasPerl) return test.skip('Net::SMPP is not installed here')
    const script = `
      use Net::SMPP;
      my ($smpp, $bind) = Net::SMPP->new_transceiver('127.0.0.1', port => ${smsc.port},
        system_id => 'perl', password => 'secret') or die 'no bind';
      my $sent = $smpp->submit_sm(destination_addr => '12025550101', short_message => 'Hello') or die 'no answer';
      print "id=$sent->{message_id}\\n";
      my $pdu = $smpp->read_pdu();
      $smpp->deliver_sm_resp(seq => $pdu->{seq}, message_id => '');
      print "text=$pdu->{short_message}\\n";
      $smpp->unbind();
    `
    const perl = endWithUs(spawn('perl', ['-e', script]))
    let output = ''
    perl.stdout.on('data', (chunk) => {
      output += chunk
    })
    await soon(() => expect(smsc.submitted).toHaveLength(1))
    await smsc.bring({ command: 'deliver_sm', source: '12025550101', shortMessage: Buffer.from('Hi') })
    await new Promise((resolve) => perl.on('close', resolve))
    expect(output).toBe('id=ID1\ntext=Hi\n')
  })

  const hasKannel = spawnSync('bearerbox', ['--version']).error === undefined
  it(`with kannel${hasKannel ? '' : ' (not installed here: apt-get install kannel)'}`, async (test) => {
    if (!hasKannel) return test.skip('kannel is not installed here')
    const directory = mkdtempSync(join(tmpdir(), 'trunkline-kannel-'))
    const [admin, boxes, http] = [await freePort(), await freePort(), await freePort()]
    const config = `
group = core
admin-port = ${admin}
admin-interface = "127.0.0.1"
smsbox-port = ${boxes}
smsbox-interface = "127.0.0.1"
admin-password = bar
dlr-storage = internal

group = smsc
smsc = smpp
smsc-id = test
host = 127.0.0.1
port = ${smsc.port}
transceiver-mode = true
smsc-username = "kannel"
smsc-password = "secret"
system-type = "VMA"
interface-version = 34

group = smsbox
bearerbox-host = 127.0.0.1
sendsms-port = ${http}
sendsms-interface = "127.0.0.1"
global-sender = 13013

group = sendsms-user
username = tester
password = foobar

group = sms-service
keyword = default
text = "No"
max-messages = 0
`
    const file = join(directory, 'kannel.conf')
    writeFileSync(file, config)
    const start = (box: string) =>
      endWithUs(spawn(box, ['-v', '4', file], { cwd: directory, stdio: 'ignore' }))
    const bearerbox = start('bearerbox')
    await soon(() => expect(smsc.binds()).toBe(1))
    const smsbox = start('smsbox')
    const url = `http://127.0.0.1:${http}/cgi-bin/sendsms?username=tester&password=foobar&to=12025550101&text=Hello`
    let sent = false
    await vi.waitFor(
      async () => {
        if (!sent) sent = (await fetch(url)).ok
        expect(smsc.submitted).toHaveLength(1)
      },
      { timeout: 60_000, interval: 100 },
    )
    expect(smsc.submitted[0]!.pdu.shortMessage!.toString()).toBe('Hello')
    const numbers = { source: '12025550101', destination: '12025550100' }
    const text = { command: 'deliver_sm', ...numbers, shortMessage: Buffer.from('Hi') } as const
    expect(await smsc.bring(text)).toMatchObject({ command: 'deliver_sm_resp', status: 0 })
    for (const box of [smsbox, bearerbox]) {
      box.kill()
      await new Promise((resolve) => box.on('close', resolve))
    }
    rmSync(directory, { recursive: true, force: true })
  })
})

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
