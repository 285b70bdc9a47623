// Builds the Dockerfile with buildah, from a base that is made here, and runs the image without Docker.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { checkContainer } from './container.js'
import { check, install, need, run, Skip, scratch } from './report.js'

/** The promise of the image's size, as registries and `docker images` count: bytes of its files. */
const MOST_BYTES = 250e6
/** Kept between runs: the packages of a small Debian. */
const CACHE = resolve('node_modules/.cache/deploy-check')
const ROOTFS = `${CACHE}/rootfs`

const buildah = (...args) =>
  run('buildah', [
    '--root',
    scratch('storage'),
    '--runroot',
    scratch('runroot'),
    '--storage-driver',
    'vfs',
    ...args,
  ])

export async function checkImage() {
  const isBuilt =
    (await check('a base image can be made', makeBases)) &&
    (await check('the Dockerfile builds', async () => {
      const bases = ['--build-arg', 'BUILD_BASE=localhost/build-base', '--build-arg', 'BASE=localhost/base']
      await buildah('bud', '--isolation', 'chroot', ...bases, '-t', 'trunkline', '.')
    }))
  if (!isBuilt) return
  await check('the image is small, and its settings are right', inspect)
  const container = (await buildah('from', 'localhost/trunkline')).trim()
  const root = (await buildah('mount', container)).trim()
  await checkContainer(root)
  await buildah('umount', container)
}

/** Debian without anything, and the same with Node and npm from npm. */
async function makeBases() {
  if (process.getuid() !== 0) throw new Skip('debootstrap and buildah need root here')
  need('buildah', 'debootstrap')
  if (!existsSync(`${ROOTFS}/complete`)) await makeRootfs()
  const modules = await install('node@22', 'npm@10')
  // The build trusts what this machine trusts: its registry may be a mirror.
  const authorities = process.env.NODE_EXTRA_CA_CERTS ?? '/dev/null'
  mkdirSync(scratch('bases'))
  await run('cp', [authorities, scratch('bases', 'authorities.pem')])
  await run('cp', ['-a', `${modules}/node/bin/node`, `${modules}/npm`, scratch('bases')])
  await run('cp', ['-a', ROOTFS, scratch('bases', 'rootfs')])
  writeFileSync(scratch('base'), 'FROM scratch\nADD rootfs /\n')
  writeFileSync(
    scratch('build-base'),
    `FROM localhost/base
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
COPY authorities.pem /etc/authorities.pem
ENV NODE_EXTRA_CA_CERTS=/etc/authorities.pem
RUN chmod 755 /usr/local/lib/node_modules/npm/bin/npm-cli.js && ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
`,
  )
  for (const name of ['base', 'build-base'])
    await buildah('bud', '--isolation', 'chroot', '-t', name, '-f', scratch(name), scratch('bases'))
}

async function makeRootfs() {
  await run('rm', ['-rf', ROOTFS])
  mkdirSync(CACHE, { recursive: true })
  try {
    await run('debootstrap', ['--variant=minbase', '--include=libstdc++6', 'bookworm', ROOTFS])
  } catch {
    throw new Skip('debootstrap could not fetch Debian; is there a network?')
  }
  // What the slim images of Debian leave out.
  const useless = [
    'var/cache/apt',
    'var/lib/apt/lists',
    'usr/share/doc',
    'usr/share/man',
    'usr/share/locale',
    'usr/share/info',
  ]
  await run('sh', ['-c', useless.map((path) => `rm -rf ${ROOTFS}/${path}/*`).join('; ')])
  writeFileSync(`${ROOTFS}/complete`, '')
}

async function inspect() {
  const bytes = Number(
    await buildah('images', '--json', 'localhost/trunkline').then((text) => sizeOf(JSON.parse(text)[0])),
  )
  const { config } = JSON.parse(await buildah('inspect', '--type', 'image', 'localhost/trunkline')).OCIv1
  const expected = {
    User: '10001:10001',
    Entrypoint: ['node', '/app/dist/main.js'],
    Cmd: ['serve', '--json'],
    StopSignal: 'SIGTERM',
    Volumes: { '/data': {} },
  }
  for (const [name, value] of Object.entries(expected))
    if (JSON.stringify(config[name]) !== JSON.stringify(value))
      throw new Error(`${name} is ${JSON.stringify(config[name])}, not ${JSON.stringify(value)}`)
  if (bytes > MOST_BYTES)
    throw new Error(`it has ${(bytes / 1e6).toFixed(0)} MB, more than ${MOST_BYTES / 1e6}`)
  return `${(bytes / 1e6).toFixed(0)} MB, of which Debian without Node has ${await baseSize()}`
}

async function baseSize() {
  return `${(sizeOf(JSON.parse(await buildah('images', '--json', 'localhost/base'))[0]) / 1e6).toFixed(0)} MB`
}

/** buildah prints sizes as text, such as "217 MB". */
function sizeOf({ size }) {
  const [, number, unit] = /^([\d.]+) ([KMG]?)B$/.exec(size)
  return Number(number) * { '': 1, K: 1e3, M: 1e6, G: 1e9 }[unit]
}
