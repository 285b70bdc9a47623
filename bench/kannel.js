// Debian's kannel, where it is installed: bearerbox and smsbox with a configuration of their own.
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What it gave on the machine it was first measured on, for machines that do not have it. */
export const RECORDED = { plain: 6040, spool: 4200, receipts: 2400, throttledLeft: 400 }

export function hasKannel() {
  return (
    spawnSync('sh', ['-c', 'command -v bearerbox && command -v smsbox'], { stdio: 'ignore' }).status === 0
  )
}

export async function startKannel({ smscPort, spool = false }) {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-kannel-'))
  mkdirSync(join(folder, 'log'))
  mkdirSync(join(folder, 'spool'))
  const [admin, box, http] = await freePorts(3)
  writeFileSync(
    join(folder, 'kannel.conf'),
    `group = core
admin-port = ${admin}
admin-interface = "127.0.0.1"
smsbox-port = ${box}
smsbox-interface = "127.0.0.1"
admin-password = bench
status-password = bench
box-deny-ip = "*.*.*.*"
box-allow-ip = "127.0.0.1"
log-file = "${folder}/log/bearerbox.log"
log-level = 3
dlr-storage = internal
sms-incoming-queue-limit = -1
${spool ? `store-type = spool\nstore-location = "${folder}/spool"` : ''}

group = smsc
smsc = smpp
smsc-id = bench
host = 127.0.0.1
port = ${smscPort}
transceiver-mode = true
smsc-username = "bench"
smsc-password = "secret"
system-type = "VMA"
interface-version = 34
source-addr-autodetect = true
enquire-link-interval = 30
max-pending-submits = 100
connection-timeout = 60
wait-ack = 60
msg-id-type = 0x00

group = smsbox
bearerbox-host = 127.0.0.1
sendsms-port = ${http}
sendsms-interface = "127.0.0.1"
global-sender = 13013
sendsms-chars = "0123456789 +-"
log-file = "${folder}/log/smsbox.log"
log-level = 3

group = sendsms-user
username = bench
password = bench
concatenation = true
max-messages = 10

group = sms-service
keyword = default
text = ""
omit-empty = true
max-messages = 0
`,
  )
  const run = (program) =>
    spawn(program, ['-v', '4', join(folder, 'kannel.conf')], { cwd: folder, stdio: 'ignore' })
  const bearer = run('bearerbox')
  await listening(box)
  const sms = run('smsbox')
  await listening(http)
  return {
    port: http,
    path: (i, to, text, callback) =>
      `/cgi-bin/sendsms?username=bench&password=bench&from=12025550100&to=${to}&text=${encodeURIComponent(text)}${
        callback ? `&dlr-mask=3&dlr-url=${encodeURIComponent(`${callback}?i=${i}`)}` : ''
      }`,
    cpuMs: () => [bearer, sms].reduce((sum, { pid }) => sum + cpuMsOf(pid), 0),
    async stop() {
      for (const child of [sms, bearer]) {
        const gone = new Promise((resolve) => child.once('exit', resolve))
        child.kill('SIGKILL')
        await gone
      }
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Processor time of a process and all its threads. */
export function cpuMsOf(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

async function freePorts(n) {
  const servers = await Promise.all(
    Array.from(
      { length: n },
      () =>
        new Promise((resolve) => {
          const server = net.createServer().listen(0, '127.0.0.1', () => resolve(server))
        }),
    ),
  )
  const ports = servers.map((server) => server.address().port)
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  return ports
}

async function listening(port) {
  for (let tries = 0; tries < 200; tries++) {
    const isOpen = await new Promise((resolve) => {
      const socket = net.connect(port, '127.0.0.1', () => resolve(true))
      socket.once('error', () => resolve(false))
      socket.once('connect', () => socket.destroy())
    })
    if (isOpen) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`nobody listens on ${port}`)
}
