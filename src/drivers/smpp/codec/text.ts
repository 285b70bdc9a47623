import { decodeGsm, encodeGsm, isEscaped, plainPunctuation } from './alphabet.js'

/** What data_coding 0, "the default alphabet", means at this carrier. They differ. */
export type DefaultAlphabet = 'gsm7' | 'latin1' | 'ascii' | 'utf8'

export interface TextSettings {
  alphabet: DefaultAlphabet
  /** Curly quotes and long dashes become plain ones where that saves parts. */
  plainPunctuation: boolean
}

export interface Encoded {
  dataCoding: number
  octets: Buffer
  /** Whether a cut before this octet would break a character. */
  breaks(at: number): boolean
  /** Octets of one message, and of one part of a longer one with a header of six octets. */
  room: { whole: number; part: number }
}

const SEPTETS = { whole: 160, part: 153 }
const OCTETS = { whole: 140, part: 134 }

/** The shortest form that says everything: the carrier's default alphabet, else UCS-2. */
export function encodeText(text: string, { alphabet, plainPunctuation: plain }: TextSettings): Encoded {
  const tries = plain ? [text, plainPunctuation(text)] : [text]
  for (const one of tries) {
    const octets = inDefault(one, alphabet)
    if (octets) return defaultForm(octets, alphabet)
  }
  const octets = Buffer.from(text, 'utf16le').swap16()
  // Only between the two halves of a pair, or within a unit.
  const breaks = (at: number) => at % 2 === 1 || (at < octets.length && (octets[at]! & 0xfc) === 0xdc)
  return { dataCoding: 8, octets, breaks, room: OCTETS }
}

function inDefault(text: string, alphabet: DefaultAlphabet): Buffer | undefined {
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

function defaultForm(octets: Buffer, alphabet: DefaultAlphabet): Encoded {
  if (alphabet === 'gsm7' || alphabet === 'ascii') {
    const breaks = (at: number) => alphabet === 'gsm7' && isEscaped(octets, at)
    return { dataCoding: 0, octets, breaks, room: SEPTETS }
  }
  const breaks = (at: number) => alphabet === 'utf8' && at < octets.length && (octets[at]! & 0xc0) === 0x80
  return { dataCoding: 0, octets, breaks, room: OCTETS }
}

/** Texts of people, whatever their phones and the carrier made of them. What cannot be read is marked, not lost. */
export function decodeText(octets: Buffer, dataCoding: number, alphabet: DefaultAlphabet): string {
  switch (formOf(dataCoding)) {
    case 'default':
      return decodeDefault(octets, alphabet)
    case 'latin1':
      return octets.toString('latin1')
    case 'ucs2':
      // An odd octet at the end is half a character.
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

/** data_coding has values of its own, and takes those of the GSM "data coding scheme" from 0x10 on. */
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
