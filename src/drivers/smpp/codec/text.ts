import { decodeGsm, encodeGsm, isEscaped, plainPunctuation } from './alphabet.js'

/** The meaning of data_coding 0, the "default alphabet", at a carrier; carriers differ. */
export type DefaultAlphabet = 'gsm7' | 'latin1' | 'ascii' | 'utf8'

export interface TextSettings {
  alphabet: DefaultAlphabet
  /** Replace curly quotes and long dashes by plain ones if that saves parts. */
  plainPunctuation: boolean
}

export interface EncodedText {
  dataCoding: number
  octets: Buffer
  /** Whether a split before this octet would break a character. */
  breaks(at: number): boolean
  /** Octets that fit in one message, and in one part next to a header of six octets. */
  room: { whole: number; part: number }
}

const SEPTETS = { whole: 160, part: 153 }
const OCTETS = { whole: 140, part: 134 }

/** Encodes in the carrier's default alphabet if possible, else in UCS-2. */
export function encodeText(text: string, { alphabet, plainPunctuation: plain }: TextSettings): EncodedText {
  const tries = plain ? [text, plainPunctuation(text)] : [text]
  for (const one of tries) {
    const octets = encodeDefault(one, alphabet)
    if (octets) return defaultForm(octets, alphabet)
  }
  const octets = Buffer.from(text, 'utf16le').swap16()
  // True within a UTF-16 unit and between the halves of a surrogate pair.
  const breaks = (at: number) => at % 2 === 1 || (at < octets.length && (octets[at]! & 0xfc) === 0xdc)
  return { dataCoding: 8, octets, breaks, room: OCTETS }
}

function encodeDefault(text: string, alphabet: DefaultAlphabet): Buffer | undefined {
  switch (alphabet) {
    case 'gsm7':
      return encodeGsm(text)
    case 'latin1':
      return /[\u0100-\uffff]/.test(text) ? undefined : Buffer.from(text, 'latin1')
    case 'ascii':
      return /[\u0080-\uffff]/.test(text) ? undefined : Buffer.from(text, 'latin1')
    case 'utf8':
      return Buffer.from(text, 'utf8')
  }
}

function defaultForm(octets: Buffer, alphabet: DefaultAlphabet): EncodedText {
  if (alphabet === 'gsm7' || alphabet === 'ascii') {
    const breaks = (at: number) => alphabet === 'gsm7' && isEscaped(octets, at)
    return { dataCoding: 0, octets, breaks, room: SEPTETS }
  }
  const breaks = (at: number) => alphabet === 'utf8' && at < octets.length && (octets[at]! & 0xc0) === 0x80
  return { dataCoding: 0, octets, breaks, room: OCTETS }
}

/** Decodes an inbound text. Unreadable characters are replaced, not dropped. */
export function decodeText(octets: Buffer, dataCoding: number, alphabet: DefaultAlphabet): string {
  switch (formOf(dataCoding)) {
    case 'default':
      return decodeDefault(octets, alphabet)
    case 'latin1':
      return octets.toString('latin1')
    case 'ucs2':
      // Drop an odd octet at the end.
      return Buffer.from(octets.subarray(0, octets.length & ~1))
        .swap16()
        .toString('utf16le')
        .toWellFormed()
  }
}

function decodeDefault(octets: Buffer, alphabet: DefaultAlphabet): string {
  if (alphabet === 'gsm7') return decodeGsm(octets)
  return octets.toString(alphabet === 'utf8' ? 'utf8' : 'latin1')
}

/** Values up to 0x0f are SMPP's own; from 0x10 they are GSM data coding schemes. */
function formOf(dataCoding: number): 'default' | 'latin1' | 'ucs2' {
  if (dataCoding <= 0x0f) {
    if (dataCoding === 8) return 'ucs2'
    return dataCoding <= 1 ? 'default' : 'latin1'
  }
  const group = dataCoding >> 4
  // Message class: bit 2 says 8-bit data.
  if (group === 0xf) return dataCoding & 0x04 ? 'latin1' : 'default'
  // General coding: bits 2 and 3 are the alphabet. 0xE is "waiting" with UCS-2.
  if (group < 8) return (['default', 'latin1', 'ucs2', 'default'] as const)[(dataCoding >> 2) & 3]!
  return group === 0xe ? 'ucs2' : 'default'
}
