import { badRequest } from '../envelope.js'

/** Rules in the syntax of the server's validator: `required|string|in:a,b`. */
export type Rules = Record<string, string>

/** Rules other than `required` skip empty values; a list is always checked, even an empty one. */
const isEmpty = (value: unknown) => value === undefined || value === null || String(value).trim() === ''
const isNumber = (value: unknown) => typeof value !== 'boolean' && Number.isFinite(Number(value))
const BOOLEANS: readonly unknown[] = [true, false, 0, 1, '0', '1', 'true', 'false']

/** Throws the first broken rule of the first field. */
export function validate(input: unknown, rules: Rules): Record<string, unknown> {
  const body = (typeof input === 'object' && input !== null ? input : {}) as Record<string, unknown>
  for (const [path, text] of Object.entries(rules))
    for (const [name, value] of valuesAt(body, path)) {
      const names = text.split('|')
      for (const rule of names) {
        const complaint = check(name, value, rule, names)
        if (complaint) throw badRequest(complaint)
      }
    }
  return body
}

/** The values that a path selects: `where.*.args` is one for each item of `where`. */
function valuesAt(body: Record<string, unknown>, path: string): [string, unknown][] {
  const [list, key] = path.split('.*.')
  if (key === undefined) return [[path, body[path]]]
  const items = body[list!]
  if (!Array.isArray(items)) return []
  return items.map((item, i) => [`${list}.${i}.${key}`, (item as Record<string, unknown> | null)?.[key]])
}

function check(name: string, value: unknown, rule: string, all: readonly string[]): string | null {
  const [kind, limit = ''] = rule.split(':')
  if (kind === 'required') return isEmpty(value) ? `The ${name} field is required.` : null
  if (kind === 'present')
    return value === undefined ? `The ${name} field must be present (but can be empty).` : null
  if (isEmpty(value) && !Array.isArray(value)) return null
  const size = all.includes('numeric') ? Number(value) : String(value).length
  const unit = all.includes('numeric') ? '' : ' characters'
  switch (kind) {
    case 'string':
      return typeof value === 'string' ? null : `The ${name} must be a string.`
    case 'numeric':
      return isNumber(value) ? null : `The ${name} must be a number.`
    case 'array':
      return Array.isArray(value) ? null : `The ${name} attribute has errors.`
    case 'boolean':
      return BOOLEANS.includes(value) ? null : `The ${name} attribute has errors.`
    case 'json-object':
      return typeof value === 'object' && !Array.isArray(value)
        ? null
        : `The ${name} must be a valid json object.`
    case 'in':
      return limit.split(',').includes(String(value)) ? null : `The selected ${name} is invalid.`
    case 'min':
      return size >= Number(limit) ? null : `The ${name} must be at least ${limit}${unit}.`
    case 'max':
      return size <= Number(limit) ? null : `The ${name} may not be greater than ${limit}${unit}.`
    default:
      throw new Error(`Validator \`${kind}\` is not defined!`)
  }
}
