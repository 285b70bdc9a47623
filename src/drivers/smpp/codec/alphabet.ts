/** The GSM 7-bit alphabet as SMPP carries it: one character to an octet. */

// Sixteen to a row, as in the standard's table.
const BASIC =
  '@£$¥èéùìòÇ\nØø\rÅå' +
  'Δ_ΦΓΛΩΠΨΣΘΞ\u001bÆæßÉ' +
  ' !"#¤%&\'()*+,-./' +
  '0123456789:;<=>?' +
  '¡ABCDEFGHIJKLMNO' +
  'PQRSTUVWXYZÄÖÑÜ§' +
  '¿abcdefghijklmno' +
  'pqrstuvwxyzäöñüà'
const ESCAPE = 0x1b
const EXTENSION: Readonly<Record<number, string>> = {
  10: '\f',
  20: '^',
  40: '{',
  41: '}',
  47: '\\',
  60: '[',
  61: '~',
  62: ']',
  64: '|',
  101: '€',
}

const NONE = -1
/** By UTF-16 unit: the octet; with `ESCAPED`, the one after the escape. */
const ESCAPED = 0x100
const CODES = new Int16Array(0x10000).fill(NONE)
for (let i = 0; i < 128; i++) if (i !== ESCAPE) CODES[BASIC.charCodeAt(i)] = i
for (const [code, char] of Object.entries(EXTENSION)) CODES[char.charCodeAt(0)] = Number(code) | ESCAPED

/** Undefined when a character has no place in it. */
export function encodeGsm(text: string): Buffer | undefined {
  const octets = Buffer.allocUnsafe(text.length * 2)
  let at = 0
  for (let i = 0; i < text.length; i++) {
    const code = CODES[text.charCodeAt(i)]!
    if (code === NONE) return undefined
    if (code & ESCAPED) octets[at++] = ESCAPE
    octets[at++] = code & 0x7f
  }
  return octets.subarray(0, at)
}

/** An escape before nothing known is shown as the space that the standard asks for. */
export function decodeGsm(octets: Buffer): string {
  let text = ''
  for (let i = 0; i < octets.length; i++) {
    const code = octets[i]! & 0x7f
    if (code !== ESCAPE) {
      text += BASIC[code]
      continue
    }
    const next = octets[i + 1]
    const escaped = next === undefined ? undefined : EXTENSION[next & 0x7f]
    if (escaped !== undefined) i++
    text += escaped ?? ' '
  }
  return text
}

/** Whether the octet at this place is the second of a pair. */
export function isEscaped(octets: Buffer, at: number): boolean {
  return at > 0 && octets[at - 1] === ESCAPE
}

/** What word processors put in place of plain signs, which would make a message of twice the parts. */
const PLAIN: Readonly<Record<string, string>> = {
  '‘': "'",
  '’': "'",
  '‚': "'",
  '“': '"',
  '”': '"',
  '„': '"',
  '–': '-',
  '—': '-',
  '‐': '-',
  '‑': '-',
  '…': '...',
  '\u00a0': ' ',
  '\u202f': ' ',
  '\t': ' ',
}
const FANCY = new RegExp(`[${Object.keys(PLAIN).join('')}]`, 'g')

export function plainPunctuation(text: string): string {
  return text.replace(FANCY, (sign) => PLAIN[sign]!)
}
