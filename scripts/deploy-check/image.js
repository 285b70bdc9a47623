// Builds the Dockerfile with buildah, from a base that is made here, and runs the image without Docker.
import { mkdirSync, writeFileSync } from 'node:fs'
import { checkContainer } from './container.js'
import { debian } from './debian.js'
import { check, install, need, run, scratch } from './report.js'

/** The promise of the image's size, as registries and `docker images` count: bytes of its files. */
const MOST_BYTES = 250e6

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
  need('buildah')
  const root = await debian('bookworm', 'libstdc++6')
  const modules = await install('node@22', 'npm@10')
  // The build trusts what this machine trusts: its registry may be a mirror.
  const authorities = process.env.NODE_EXTRA_CA_CERTS ?? '/dev/null'
  mkdirSync(scratch('bases'))
  await run('cp', [authorities, scratch('bases', 'authorities.pem')])
  await run('cp', ['-a', `${modules}/node/bin/node`, `${modules}/npm`, scratch('bases')])
  await run('cp', ['-a', root, scratch('bases', 'rootfs')])
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
