import { createSmsc } from '../../peers/smsc.js'
import { eventually, receiptText, textFrom } from '../../support/drivers/smpp.js'
import { driverContract } from '../contract.js'

const LOGIN = { system_id: 'trunkline', password: 'hunter2!' }

driverContract(
  'smpp',
  {
    driver: 'smpp',
    evidence: 'report',
    accepted: 'SENT',
    refusal: 'ESME_RINVDSTADR: The carrier refused the message',
    badConfigs: [
      [{ ...LOGIN, host: 'smsc.example.com' }, 'port'],
      [{ ...LOGIN, host: 'smsc.example.com', port: 0 }, 'port'],
      [{ ...LOGIN, host: 'smsc.example.com', port: 2775, password: 'much too long'.repeat(5) }, 'password'],
      [{ ...LOGIN, host: 'smsc.example.com', port: 2775, bind: 'sideways' }, 'bind'],
      [{ ...LOGIN, host: 'smsc.example.com', port: 2775, receipt_pattern: '(?<id>[' }, 'receipt_pattern'],
      [{ ...LOGIN, host: 'smsc.example.com', port: 2775, tls_ca: 'none' }, 'tls_ca'],
    ],
    secrets: [LOGIN.password],
    people: Array.from({ length: 60 }, (_, i) => `+1202558${1000 + i}`),
    noticeMs: 1000,
    settleMs: 20_000,
  },
  async () => {
    const smsc = await createSmsc()
    const of = (to: string) => smsc.submitted.filter(({ pdu }) => pdu.destination === to.slice(1))
    /** Delivers once a receiver is bound, and repeats until it is acknowledged. */
    const bring = (pdu: Parameters<typeof smsc.bring>[0]) =>
      eventually(async () => {
        const { command } = await smsc.bring(pdu)
        if (command !== 'deliver_sm_resp') throw new Error('The connection ended')
      })
    return {
      config: { ...LOGIN, host: '127.0.0.1', port: smsc.port },
      async act(what) {
        smsc.options.submit = () => {
          if (what === 'refuse') return { answer: 0x0b }
          if (what === 'take-then-drop') return 'drop'
          return what === 'silence' ? 'silence' : { answer: 0 }
        }
      },
      async unplug() {
        smsc.options.bind = () => 0x0d
        smsc.cut()
      },
      async plug() {
        smsc.options.bind = undefined
      },
      taken: async (to) => of(to).map(({ pdu }) => ({ content: pdu.shortMessage!.toString() })),
      async report(to, n, status) {
        const stat = { SENT: 'ACCEPTD', DELIVERED: 'DELIVRD', ERROR: 'UNDELIV' }[status]
        await bring(receiptText(of(to)[n]!, stat, { echo: true }))
      },
      async bring(from, content) {
        await bring(textFrom(from, content))
      },
      async bringTwice(from, content, recover) {
        // Our answer cannot leave; the carrier redelivers over the next connection.
        void smsc.bring(textFrom(from, content))
        smsc.hangUp()
        await eventually(() => {
          if (smsc.binds() > 0) throw new Error('Still bound')
        })
        await recover()
        await bring(textFrom(from, content))
      },
      close: () => smsc.close(),
    }
  },
)
