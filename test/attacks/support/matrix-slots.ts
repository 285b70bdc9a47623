import type { Policy } from '../../../src/api/http/policies.js'
import type { Json } from '../../support/world.js'
import type { Kind } from './matrix-world.js'

/**
 * What a parameter or a field of a route names follows from its path and name. A new route with a new kind of object
 * fails until the kind is told here.
 */
const IN_PATH: [pattern: RegExp, kind: Kind | 'no object'][] = [
  [/^\/v3\/scheduled-messages\/:handle/, 'scheduled'],
  [/:(message_handle|message_id|handle)$/, 'message'],
  [/:group_id$|^\/sim\/groups\/:id$/, 'group'],
  [/contacts\/:contact_id$/, 'contactId'],
  [/contacts\/:phone_number$|\/location\/:number$/, 'contact'],
  [/:seat_id$|^\/admin\/seats\/:id$/, 'seat'],
  [/:secret_id$/, 'totp'],
  [/:service_sid$/, 'service'],
  [/verifications\/:sid$/, 'verification'],
  [/:token_id$/, 'token'],
  [/^\/v3\/webhook-deliveries\/:id$/, 'delivery'],
  [/^\/(v3|admin)\/requests\/:id$/, 'request'],
  [/:sendblue_number$/, 'line'],
  [/^\/sim\/phones\/:number$/, 'phone'],
  [/^\/sim\/phones\/:number\/calls\/:id$/, 'call'],
  [/^\/sim\/phones\/:number\/messages\/:id$/, 'phoneMessage'],
  [/^\/sim\/calls\/:id$/, 'lineCall'],
  [/^\/sim\/worlds\/:id$/, 'world'],
  [/:account_id$|^\/admin\/accounts\/:id$/, 'account'],
  [/^\/admin\/keys\/:id$/, 'key'],
  [/^\/admin\/lines\/:id$/, 'lineId'],
  [/^\/sim\/faults\/:name$|^\/admin\/(plans\/:name|erasures\/:id)$|blocked-callers\/:number$/, 'no object'],
  [/^\/admin\/(phones|pools)\/:id$|^\/mobile\/v1\/received\/:phone$/, 'no object'],
]
/** By the path and the field, with a space between them. */
const IN_FIELDS: [pattern: RegExp, kind: Kind][] = [
  [/ (from_?number|sendblue_?number|line|from)$/i, 'line'],
  [/^\/v3\/auth\/tokens phone_numbers?$/, 'line'],
  [/^\/sim\/phones\/.* to$/, 'line'],
  [/ group_?id$/i, 'group'],
  [/^\/sim\/phones\/.* reply_to$/, 'phoneMessage'],
  [/ ((message_?)?handle|reply_to)$/i, 'message'],
  [/ seat_?id$/i, 'seat'],
  [/ (worker|line)_id$/, 'lineId'],
  [/ contact_?ids$/i, 'contact'],
  [/ cid$/, 'contactId'],
  [/^\/sim\/groups.* by$/, 'phone'],
]
/** Fields that look as if they named an object: names that their caller invents. */
const INVENTED = /^(extensionBundleId|teamId|sessionIdentifier)$/
const LOOKS_LIKE_AN_OBJECT = /(id|ids|handle|handles|sid|identifier|reply_to)$/i
export interface Slot {
  at: 'path' | 'query' | 'body'
  name: string
  kind: Kind
}
export interface Route extends Policy {
  operation: Json
  slots: Slot[]
}

export function slotsOf({ url, access }: Policy, operation: Json): Slot[] {
  const slots: Slot[] = []
  for (const [part, name] of url.matchAll(/:(\w+)/g)) {
    const upTo = url.slice(0, url.indexOf(part) + part.length)
    const kind = IN_PATH.find(([pattern]) => pattern.test(upTo))?.[1]
    if (!kind) throw new Error(`${url}: say in IN_PATH what kind of object ${part} names`)
    if (kind !== 'no object') slots.push({ at: 'path', name: name!, kind })
  }
  const add = (at: Slot['at'], name: string) => {
    const kind = kindOf(url, name)
    if (kind) slots.push({ at, name, kind })
    else if (LOOKS_LIKE_AN_OBJECT.test(name) && !INVENTED.test(name))
      throw new Error(`${url}: say in IN_FIELDS what kind of object ${name} names`)
  }
  if (access === 'admin') return slots
  for (const one of operation?.parameters ?? []) if (one.in === 'query') add('query', one.name)
  for (const name of Object.keys(bodySchema(operation)?.properties ?? {})) add('body', name)
  return slots
}

export const kindOf = (url: string, field: string) =>
  IN_FIELDS.find(([pattern]) => pattern.test(`${url} ${field}`))?.[1]

/** Whether a field must be there beside the one that is varied. */
export function isNeeded({ operation }: Route, one: Slot, varied: Slot): boolean {
  if (one.kind === varied.kind) return false
  if (one.at === 'body') return bodySchema(operation)?.required?.includes(one.name) ?? false
  return operation.parameters.some((given: Json) => given.name === one.name && given.required)
}

export const bodySchema = (operation: Json): Json =>
  operation?.requestBody?.content?.['application/json']?.schema
