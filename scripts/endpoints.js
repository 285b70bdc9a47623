// Writes docs/endpoints.md: every endpoint of the interface, its tests, and the published SDK's method for it. With
// --check it writes nothing and fails if the file is out of date or an endpoint has no route or no test.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import SendblueAPI from 'sendblue'
import { INTERFACE, LEFT_OUT } from './interface.js'

const FILE = 'docs/endpoints.md'
const { paths } = JSON.parse(readFileSync('openapi.json', 'utf8'))
const tests = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .map((name) => `test/${name.replaceAll('\\', '/')}`)
  .filter((name) => name.endsWith('.test.ts'))
  .sort()
  .map((name) => ({ name, text: withConstants(readFileSync(name, 'utf8')) }))
const methods = await sdkMethods()

const rows = INTERFACE.map((endpoint) => {
  const [method, path] = endpoint.split(' ')
  const operation = operationOf(method, path)
  const sdk = methods.filter((one) => one.method === method && sameShape(one.path, path))
  const shown = operation ? testsOf(method, path, sdk) : []
  return { endpoint, operation, sdk: sdk.map((one) => one.name), shown }
})
const holes = rows.filter(
  (row) =>
    !row.operation ||
    row.shown.length === 0 ||
    (row.sdk.length > 0 && !row.shown[0].startsWith('test/wire/')),
)
const beyond = Object.entries(paths)
  .flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      endpoint: `${method.toUpperCase()} ${path}`,
      operation,
    })),
  )
  .filter(({ endpoint }) => !INTERFACE.some((one) => sameEndpoint(one, endpoint)))

const text = [
  '# Endpoints',
  '',
  'Made by `npm run endpoints` from the routes, the tests and the published `sendblue` SDK. Do not edit.',
  '',
  '| Endpoint | What it does | Shown by | SDK method |',
  '|---|---|---|---|',
  ...rows.map(
    ({ endpoint, operation, sdk, shown }) =>
      `| \`${endpoint}\` | ${operation?.summary ?? '**missing**'} | ${shown.map((name) => `\`${name}\``).join(', ') || '**no test**'} | ${sdk.map((name) => `\`${name}\``).join(', ') || 'none'} |`,
  ),
  '',
  '## Left out on purpose',
  '',
  ...LEFT_OUT.map(([endpoint, why]) => `- \`${endpoint}\`: ${why}`),
  '',
  '## Beyond the interface',
  '',
  '| Endpoint | What it does |',
  '|---|---|',
  ...beyond.map(({ endpoint, operation }) => `| \`${endpoint}\` | ${operation.summary} |`),
  '',
].join('\n')

if (!process.argv.includes('--check')) writeFileSync(FILE, text)
else if (readFileSync(FILE, 'utf8') !== text)
  fail(`${FILE} is not up to date. Run "npm run endpoints" and commit the result.`)
if (holes.length > 0)
  fail(`Without a route, a test, or a call by the SDK: ${holes.map(({ endpoint }) => endpoint).join(', ')}`)

/** Paths are often made of a constant and the rest. */
function withConstants(text) {
  const known = new Map(
    [...text.matchAll(/const (\w+) = ['"`](\/[^'"`]*)['"`]/g)].map(([, name, value]) => [name, value]),
  )
  return text.replace(/\$\{(\w+)\}/g, (whole, name) => known.get(name) ?? whole)
}

function fail(message) {
  console.error(message)
  process.exitCode = 1
}

function operationOf(method, path) {
  const found = Object.keys(paths).find((one) => sameShape(one, path) && paths[one][method.toLowerCase()])
  return found && paths[found][method.toLowerCase()]
}

function sameShape(a, b) {
  const shape = (path) => path.replace(/\{[^}]*\}/g, '{}')
  return shape(a) === shape(b)
}

function sameEndpoint(a, b) {
  const [methodA, pathA] = a.split(' ')
  const [methodB, pathB] = b.split(' ')
  return methodA === methodB && sameShape(pathA, pathB)
}

/** Test files that call the SDK's method, or name the path. */
function testsOf(method, path, sdk) {
  const parts = path.split(/\{[^}]*\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  const asText = new RegExp(`['"\`]${parts.join('[^/\'"`\\s]+')}(?=['"\`?]|\\$\\{\\w*[qQ]uery)`)
  const named = tests.filter(({ text }) => asText.test(text) && usesMethod(text, method, asText))
  const called = tests.filter(({ text }) =>
    sdk.some(({ name }) => text.includes(`.${name.replace(/^client\./, '')}(`)),
  )
  const names = [...new Set([...called, ...named].map(({ name }) => name))]
  const wire = names.filter(
    (name) => called.some((one) => one.name === name) && name.startsWith('test/wire/'),
  )
  return [...new Set([...wire, ...names])].slice(0, 3)
}

/** The tests' own ways to say a method: a call by that name, or the name itself. */
function usesMethod(text, method, path) {
  const ways = {
    GET: /\.get\(|'GET'/,
    POST: /\.post\(|'POST'/,
    PUT: /'PUT'|\.put\(/,
    DELETE: /'DELETE'|\.delete\(/,
    PATCH: /'PATCH'/,
  }
  return ways[method].test(text) && path.test(text)
}

/** Every method the published client has, and what it asks for: found by calling each of them. */
async function sdkMethods() {
  let asked
  const client = new SendblueAPI({
    apiKey: 'x',
    apiSecret: 'x',
    baseURL: 'http://sdk',
    maxRetries: 0,
    fetch: async (url, init) => {
      asked = { method: init.method.toUpperCase(), path: decodeURIComponent(new URL(url).pathname) }
      return new Response('{}', { headers: { 'content-type': 'application/json' } })
    },
  })
  const found = []
  const walk = async (resource, name) => {
    for (const method of Object.getOwnPropertyNames(Object.getPrototypeOf(resource))) {
      if (method === 'constructor' || method.startsWith('_')) continue
      asked = undefined
      const ids = { service_sid: '{id}', serviceSid: '{id}' }
      const attempts = [[ids], ['{id}', ids], []]
      for (const args of attempts) {
        await Promise.resolve()
          .then(() => resource[method](...args))
          .catch(() => {})
        if (asked && !asked.path.includes('[object')) break
      }
      if (asked) found.push({ name: `${name}.${method}`, ...asked })
    }
    for (const [key, value] of Object.entries(resource)) {
      if (key !== '_client' && typeof value === 'object' && value?._client)
        await walk(value, `${name}.${key}`)
    }
  }
  for (const [key, value] of Object.entries(client)) {
    if (typeof value === 'object' && value?._client) await walk(value, `client.${key}`)
  }
  return found
}
