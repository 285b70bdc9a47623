import { ALGORITHMS, DIGITS, MAX_PERIOD, plainSecret, TOTP_DEFAULTS, type TotpSettings } from './totp.js'

interface OtpauthUri extends TotpSettings {
  label: string
  issuer: string | null
  /** Plain base32. */
  secret: string
}

export const MAX_NAME = 200

/** Reads the otpauth URI of a QR code, or says what is wrong with it. */
export function readOtpauth(text: string): OtpauthUri | { fault: string } {
  const match = /^otpauth:\/\/([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?$/i.exec(text.trim())
  if (!match) return { fault: 'must be an otpauth://totp/… URI' }
  const [, type = '', path = '', query = ''] = match
  if (/^hotp$/i.test(type)) return { fault: 'counter-based codes (hotp) are not supported, only totp' }
  if (!/^totp$/i.test(type)) return { fault: 'must be an otpauth://totp/… URI' }

  const name = decoded(path)
  const fields = fieldsOf(query)
  if (name === undefined || !fields) return { fault: 'has an escape that is not valid UTF-8' }
  if ('repeated' in fields) return { fault: `${fields.repeated} is given more than once` }
  const { values } = fields
  const colon = name.indexOf(':')
  const issuer = (values.get('issuer') ?? (colon > 0 ? name.slice(0, colon) : '')).trim() || null
  const label = name.slice(colon + 1).trim() || issuer
  if (!label) return { fault: 'has no label' }
  if ([label, issuer ?? ''].some((part) => part.length > MAX_NAME || hasControl(part)))
    return { fault: `label and issuer must be at most ${MAX_NAME} characters, without control characters` }

  const secret = plainSecret(values.get('secret') ?? '')
  if (!secret) return { fault: values.get('secret') ? 'its secret is not base32' : 'has no secret' }
  const algorithm = ALGORITHMS.find(
    (one) => one === (values.get('algorithm') ?? TOTP_DEFAULTS.algorithm).toUpperCase(),
  )
  if (!algorithm) return { fault: `its algorithm must be one of ${ALGORITHMS.join(', ')}` }
  const digits = whole(values.get('digits'), TOTP_DEFAULTS.digits)
  if (!DIGITS.some((one) => one === digits)) return { fault: 'its digits must be 6 or 8' }
  const period = whole(values.get('period'), TOTP_DEFAULTS.period)
  if (!(period >= 1 && period <= MAX_PERIOD))
    return { fault: `its period must be 1 to ${MAX_PERIOD} seconds` }
  return { label, issuer, secret, algorithm, digits, period }
}

function fieldsOf(query: string): { values: Map<string, string> } | { repeated: string } | undefined {
  const values = new Map<string, string>()
  for (const pair of query.split('&').filter((pair) => pair !== '')) {
    const at = pair.indexOf('=')
    const name = decoded(at < 0 ? pair : pair.slice(0, at))?.toLowerCase()
    const value = decoded(at < 0 ? '' : pair.slice(at + 1).replaceAll('+', ' '))
    if (name === undefined || value === undefined) return undefined
    if (values.has(name)) return { repeated: name }
    values.set(name, value)
  }
  return { values }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

function whole(text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback
  return /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN
}

function hasControl(text: string): boolean {
  return /\p{Cc}/u.test(text)
}
