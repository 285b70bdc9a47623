// A fresh Debian 13 that systemd boots, in namespaces of its own but on the network of this machine.
import { appendFileSync, cpSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { basename, resolve } from 'node:path'
import { debian } from './debian.js'
import { eventually, need, run, Skip, scratch } from './report.js'
import { start } from './server.js'

/** Those of Caddy, its administration, Trunkline and its metrics. */
const PORTS = [80, 443, 2019, 4040, 9464]
const AUTHORITIES = '/etc/ssl/certs/ca-certificates.crt'
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
/** Half a minute alone; a busy machine needs more. */
const BOOT_MS = 180_000

/** systemd gets a control group of its own, below which it makes those of its units. Arguments: root, group. */
const OUTSIDE = `set -e
mount -t cgroup2 cgroup2 "$1/mnt"
mkdir "$1/mnt/$2"
echo $$ > "$1/mnt/$2/cgroup.procs"
umount "$1/mnt"
exec unshare --kill-child --fork --mount --pid --cgroup --uts --ipc bash -c "$INSIDE" boot "$1"`
/** Read-only /proc/sys and a /dev of its own keep systemd away from the kernel and the devices of this machine. */
const INSIDE = `set -e
mount --make-rprivate /
mount --bind "$1" "$1"
cd "$1"
mount -t proc proc proc
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=755 tmpfs dev
for name in null zero full random urandom tty; do touch dev/$name; mount --bind /dev/$name dev/$name; done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts dev/pts
mount -t tmpfs -o mode=1777 tmpfs dev/shm
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
pivot_root . mnt
umount -l /mnt
exec env -i container=trunkline PATH=${PATH} /lib/systemd/systemd systemd.unit=multi-user.target`
const CLEAN = `set -e
mount -t cgroup2 cgroup2 "$1"
test ! -e "$1/$2" || find "$1/$2" -depth -type d -delete`

/** Boots the machine. It knows this domain as itself, and has this repository at /srv/trunkline.git. */
export async function startMachine(domain) {
  const base = await debian('trixie', 'systemd-sysv', 'dbus', 'ca-certificates')
  need('unshare', 'nsenter', 'git')
  for (const port of PORTS) await assertFree(port)
  const root = scratch('machine')
  await run('cp', ['-a', base, root])
  await run('git', ['clone', '-q', '--bare', resolve('.'), `${root}/srv/trunkline.git`])
  cpSync('/etc/resolv.conf', `${root}/etc/resolv.conf`)
  writeFileSync(`${root}/etc/hosts`, `127.0.0.1 localhost ${domain}\n`)
  // The machine trusts what this one trusts: its registry may be a mirror.
  if (process.env.NODE_EXTRA_CA_CERTS)
    appendFileSync(root + AUTHORITIES, readFileSync(process.env.NODE_EXTRA_CA_CERTS))

  const group = basename(scratch())
  const args = ['--mount', 'bash', '-c', OUTSIDE, 'boot', root, group]
  const systemd = start('unshare', args, { env: { PATH, INSIDE } })
  const first = await eventually(() => childOf(systemd.pid))
  /** Runs commands in the machine as root, whom npm and node let trust AUTHORITIES. */
  const inside = (script, options) =>
    run(
      'nsenter',
      [
        '-t',
        first,
        '--all',
        'env',
        '-i',
        `PATH=${PATH}`,
        'HOME=/root',
        `NODE_EXTRA_CA_CERTS=${AUTHORITIES}`,
        'bash',
        '-c',
        script,
      ],
      options,
    )
  try {
    await eventually(() => inside('systemctl is-system-running | grep -E "running|degraded"'), BOOT_MS)
  } catch (error) {
    await systemd.stop('SIGKILL')
    throw new Skip(
      `systemd does not boot here within ${BOOT_MS / 1000} s: ${error.message} ${systemd.output()}`,
    )
  }
  return {
    inside,
    async stop() {
      await systemd.stop('SIGKILL')
      const clean = ['--mount', 'bash', '-c', CLEAN, 'clean', `${root}/mnt`, group]
      // The last processes may still be on their way out.
      await eventually(() => run('unshare', clean).then(() => true))
    },
  }
}

function childOf(pid) {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]
}

async function assertFree(port) {
  const server = createServer()
  await new Promise((done, fail) => {
    server.once('error', () => fail(new Skip(`port ${port} is in use`))).listen(port, done)
  })
  await new Promise((done) => server.close(done))
}
