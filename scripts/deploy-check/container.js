// Runs an image's root folder as a container does: first process of its own, another user, nothing to write but /data.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { check, eventually, freePort, run, Skip, scratch } from './report.js'
import { HELLO, runDocumented, start, untilReady } from './server.js'

const USER = '10001:10001'
/** Arguments: root, data folder, and those of trunkline. */
const CONTAINER = `set -e
root=$1 data=$2; shift 2
mount --make-rprivate /
mount --bind "$root" "$root"
mount --bind "$data" "$root/data"
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
mount -o remount,bind,ro "$root"
if touch "$root/app/written" 2>/dev/null; then echo "the root can be written to" >&2; exit 9; fi
exec chroot --userspec=${USER} "$root" node /app/dist/main.js "$@"`

export async function checkContainer(root) {
  const data = scratch('container-data')
  mkdirSync(data, { mode: 0o700 })
  execFileSync('chown', [USER, data])
  const port = await freePort()
  const env = {
    ...{
      PATH: '/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin',
      NODE_ENV: 'production',
      TRUNKLINE_DATA: '/data',
    },
    ...{ HOST: '0.0.0.0', PORT: String(port), TRUNKLINE_PUBLIC_URL: 'https://sms.example.com' },
  }
  const url = `http://127.0.0.1:${port}`
  const inside = (...args) => ['--mount', '--pid', '--fork', 'sh', '-c', CONTAINER, 'sh', root, data, ...args]
  const healthy = () => run('chroot', [`--userspec=${USER}`, root, ...healthCommand()], { env })
  let server
  const isUp = await check('the image starts as user 10001, as process 1, on a read-only root', async () => {
    await run('unshare', ['--mount', '--pid', '--fork', 'true']).catch(() => {
      throw new Skip('this machine does not allow unshare')
    })
    await run('unshare', inside('init', '--email', 'you@example.com', '--write', '/data/keys'), { env })
    server = start('unshare', inside('serve', '--json'), { env })
    await untilReady(url, server)
  })
  if (!isUp) return
  await check('the image: a message is sent', async () => {
    const said = await runDocumented('The first message', url, `${data}/keys`)
    if (!said.includes(HELLO)) throw new Error(`the phone does not show the message:\n${said}`)
  })
  await check('the image: HEALTHCHECK says healthy', () => healthy().then(() => undefined))
  await check('the image: SIGTERM ends it with exit code 0, and HEALTHCHECK notices', async () => {
    const code = await stop(server)
    if (code !== 0) throw new Error(`it ended with ${code}:\n${server.output()}`)
    const isHealthy = await healthy().then(
      () => true,
      () => false,
    )
    if (isHealthy) throw new Error('HEALTHCHECK still says healthy')
  })
  await check('the image: SIGTERM ends a start that waits for its database', async () => {
    const away = { ...env, DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing' }
    const waiting = start('unshare', inside('serve', '--json'), { env: away })
    await eventually(() => waiting.output().includes('Trying again'))
    const code = await stop(waiting)
    if (code !== 0) throw new Error(`it ended with ${code}:\n${waiting.output()}`)
  })
}

/** Signals the first process of the container; `unshare` ends with its exit code. */
function stop({ pid, exited }) {
  const [first] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  process.kill(Number(first), 'SIGTERM')
  const late = new Promise((resolve) => setTimeout(resolve, 60_000, 'nothing within 60 seconds').unref())
  return Promise.race([exited, late])
}

/** The command of HEALTHCHECK, which is no part of an OCI image. */
function healthCommand() {
  const command = /HEALTHCHECK[\s\S]*?CMD (\[.*\])/.exec(readFileSync('Dockerfile', 'utf8'))[1]
  return JSON.parse(command)
}
