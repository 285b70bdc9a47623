/** Masks what the request log shows of a call: no phone numbers, no contents, no secrets. */

const MAX_PATH = 200
const MAX_MESSAGE = 300
export const MAX_BODY = 4096

const PHONE = /^\+[\d\s().-]{5,}$|^\(?\d[\d\s().-]{8,}$/
const PLAIN_PART = /^[\w.~:+-]{1,100}$/

/** A URL's path in which numbers are cut to their last four digits and parts that may be content are left out. */
export function maskPath(url: string): string {
  const end = url.indexOf('?')
  const path = end === -1 ? url : url.slice(0, end)
  if (!/[\d%@]/.test(path)) return path.slice(0, MAX_PATH)
  return path.split('/').map(maskPart).join('/').slice(0, MAX_PATH)
}

function maskPart(part: string): string {
  const text = decoded(part)
  if (PHONE.test(text)) return lastDigits(text)
  return PLAIN_PART.test(text) || text === '' ? part : '*'
}

function decoded(part: string): string {
  try {
    return part.includes('%') ? decodeURIComponent(part) : part
  } catch {
    return '*%'
  }
}

function lastDigits(number: string): string {
  return `*${number.replace(/\D/g, '').slice(-4)}`
}

/** Texts this short say nothing, and would mask words of the message. */
const SHORT = 3

/** Texts of a request that a message is compared with: a few milliseconds. */
export const MAX_TEXTS = 5000
const NOT_COMPARED = '(not kept: the request has too many texts to compare the message with)'

/** An error message without the values that came with the request. */
export function maskMessage(message: string, values: Iterable<string>): string {
  let text = message
  let compared = 0
  for (const value of values) {
    if (++compared > MAX_TEXTS) return NOT_COMPARED
    if (value.length < SHORT || !text.includes(value)) continue
    text = text.replaceAll(value, PHONE.test(value) ? lastDigits(value) : '*')
  }
  return text
    .replace(/(?<!Did you mean )"[^"]+"/g, '"*"')
    .replace(/\bhttps?:\/\/\S+/gi, '*')
    .replace(/\S+/g, (word) => (word.indexOf('@') > 0 ? '*' : word))
    .replace(/\+\d{6,15}\b|\b\d{10,15}\b/g, lastDigits)
    .slice(0, MAX_MESSAGE)
}

/** Every text in a value, and names of fields that may be content. */
export function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'object' && value !== null) {
    for (const [name, part] of Object.entries(value)) {
      if (!Array.isArray(value) && !FIELD_NAME.test(name)) yield name
      yield* textsIn(part)
    }
  }
}

/** Names that cannot be content: no signs of text, no digits of a phone number. */
export const FIELD_NAME = /^(?!.*\d{5})[A-Za-z_][\w.-]{0,39}$/

const SECRET_NAME =
  /secret|passw|passphrase|token|auth|credential|api_?key|private|cookie|signature|otp|^pin$|^code$|^uri$|^config$/i

/** A body of JSON without secrets, cut to `MAX_BODY` characters. Undefined if the text is no JSON. */
export function maskBody(json: string): string | undefined {
  try {
    return JSON.stringify(withoutSecrets(JSON.parse(json))).slice(0, MAX_BODY)
  } catch {
    return undefined
  }
}

function withoutSecrets(value: unknown): unknown {
  if (typeof value === 'string') return maskUrl(value)
  if (Array.isArray(value)) return value.map(withoutSecrets)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [
      name,
      SECRET_NAME.test(name) && part !== null ? '*' : withoutSecrets(part),
    ]),
  )
}

/** Users put keys into the URLs of their webhooks. */
function maskUrl(text: string): string {
  return text.replace(/\b(https?:\/\/)(?:[^\s/?#@]*@)?([^\s?#]*)(\?[^\s#]*)?/gi, (_, scheme, rest, query) =>
    [scheme, rest, query ? '?*' : ''].join(''),
  )
}
