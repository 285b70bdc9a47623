/** The GSM 7-bit alphabet, unpacked as in SMPP: one character in each octet. */

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
/** Flag in CODES for characters of the extension table. CODES maps a UTF-16 unit to its octet. */
const ESCAPED = 0x100
const CODES = new Int16Array(0x10000).fill(NONE)
for (let i = 0; i < 128; i++) if (i !== ESCAPE) CODES[BASIC.charCodeAt(i)] = i
for (const [code, char] of Object.entries(EXTENSION)) CODES[char.charCodeAt(0)] = Number(code) | ESCAPED

/** Undefined if a character is not in the alphabet. */
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

/** An unknown escape sequence becomes a space, as the standard requires. */
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

/** Whether the octet at this index follows an escape. */
export function isEscaped(octets: Buffer, at: number): boolean {
  return at > 0 && octets[at - 1] === ESCAPE
}

/** Typographic characters that would force UCS-2, and so twice the parts. */
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
