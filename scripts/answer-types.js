// Types for the console: the answers of every route that it names as Answers['GET /path'], from the OpenAPI document.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inlined } from './inlined.js'

export const FILE = 'console/src/api/answers.ts'

export function answerTypes(document) {
  const { paths } = inlined(document)
  const names = new Set(
    readdirSync('console/src', { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .flatMap((name) => [...readFileSync(join('console/src', name), 'utf8').matchAll(/Answers\['(.+?)'\]/g)])
      .map(([, route]) => route),
  )
  const lines = [...names].sort().map((route) => {
    const [method, path] = route.split(' ')
    const [, answer] = Object.entries(paths[path]?.[method.toLowerCase()]?.responses ?? {})[0] ?? []
    if (!answer?.content)
      throw new Error(`${route}: the console uses this route, but the API has none with a JSON answer.`)
    return `  '${route}': ${typeOf(answer.content['application/json'].schema)}\n`
  })
  return `// Written by "npm run openapi". Do not edit.\nexport interface Answers {\n${lines.join('')}}\n`
}

function typeOf(schema) {
  if (schema.enum) return schema.enum.map((value) => `'${value}'`).join(' | ')
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' | ')
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type })).join(' | ')
  if (schema.type === 'integer') return 'number'
  if (schema.type === 'array') return `Array<${typeOf(schema.items ?? {})}>`
  if (schema.type === 'object') return objectType(schema)
  return schema.type ?? 'unknown'
}

function objectType({ properties, required = [], additionalProperties }) {
  if (!properties) return `Record<string, ${typeOf(additionalProperties ?? {})}>`
  const fields = Object.entries(properties).map(
    ([name, schema]) => `${name}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`,
  )
  return `{ ${fields.join('; ')} }`
}
