// "systemd and Caddy" of docs/deploy.md, word by word, on a fresh Debian 13.
import { readFileSync } from 'node:fs'
import { deployBlock } from './documents.js'
import { startMachine } from './machine.js'
import { check } from './report.js'
import { HELLO } from './server.js'
import { timed } from './times.js'

const DOMAIN = 'sms.example.com'
const LIVE_S = 600
const TRUST = 'NODE_EXTRA_CA_CERTS=/var/lib/caddy/.local/share/caddy/pki/authorities/local/root.crt'
/** Says when each command begins. */
const CLOCK = `trap 'printf "\\n@%s %s\\n" $SECONDS "$BASH_COMMAND"' DEBUG\n`

export async function checkSystemd() {
  let machine
  const isUp = await check('systemd boots a fresh Debian 13', async () => {
    machine = await startMachine(DOMAIN)
  })
  if (!isUp) return
  try {
    const isLive = await check(
      `the first message behind TLS, with keys of your own, on that Debian, within ${LIVE_S / 60} minutes`,
      () => timed(LIVE_S, (step) => goLive(machine, step)),
    )
    if (isLive) await checkLive(machine)
  } finally {
    await machine.stop()
  }
}

/** Both blocks in one shell. Without a domain of its own, Caddy signs the certificate itself. */
async function goLive({ inside }, step) {
  const local = `sed -i '1i {\\nlocal_certs\\nskip_install_trust\\n}' /etc/caddy/Caddyfile\n`
  const install = deployBlock('systemd and Caddy')
    .replace(/https:\S+\/trunkline /, 'file:///srv/trunkline.git ')
    .replace('systemctl reload caddy\n', (reload) => `${local + reload}export ${TRUST}\n`)
  const said = await inside(`set -euo pipefail\n${CLOCK}${install}${deployBlock('The first message')}`)
  if (!said.includes(HELLO)) throw new Error(`the phone does not show the message:\n${said}`)
  const begun = [...said.matchAll(/^@(\d+) (.*)$/gm)].map(([, second, command]) => [Number(second), command])
  for (const [index, [second, command]] of begun.entries()) {
    const seconds = (begun[index + 1]?.[0] ?? second) - second
    if (seconds >= 5) step(command.split(' ').slice(0, 2).join(' '), seconds)
  }
}

/** What docs/deploy.md says about a server that runs. */
async function checkLive({ inside }) {
  const functions = deployBlock('systemd and Caddy')
    .match(/^\w+\(\) \{.*\}$/gm)
    .join('\n')
  const later = (script) =>
    inside(`set -euo pipefail; export DOMAIN=${DOMAIN}\n${functions}\nexport ${TRUST}\n${script}`)

  await check('systemd: metrics are on a port of their own, and Caddy answers 404', async () => {
    const response = await fetch('http://127.0.0.1:9464/metrics')
    if (response.status !== 200) throw new Error(`the port of the metrics answers ${response.status}`)
    const ask = `fetch('https://${DOMAIN}/metrics').then(({ status }) => console.log(status))`
    const status = (await later(`node -e "${ask}"`)).trim()
    if (status !== '404') throw new Error(`Caddy answers ${status}`)
  })
  await check('systemd: the commands of "Backup" work, and so does the way back', async () => {
    const said = await later(`${deployBlock('Backup')}as live messages`)
    if (!said.includes('No message is in doubt') || !said.includes(HELLO)) throw new Error(said)
  })
  await check('systemd: the command of "Upgrade" works', async () => {
    const [, upgrade] = /^\| systemd \| `(.*)` \|$/m.exec(readFileSync('docs/deploy.md', 'utf8'))
    // A commit that changes what npm likes to write to.
    const commit = `git clone -q /srv/trunkline.git /tmp/newer && cd /tmp/newer && echo >> package-lock.json
      git -c user.name=you -c user.email=you@example.com commit -qam Newer && git push -q`
    await later(`${commit}\n${upgrade}`)
    const said = await later(
      'git -C /opt/trunkline log -1 --format=%s; for try in 1 2 3 4 5; do as live messages && break; sleep 1; done',
    )
    if (!said.includes('Newer') || !said.includes(HELLO)) throw new Error(said)
  })
}
