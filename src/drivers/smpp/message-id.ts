/** How the id in receipts differs from the one in answers, where an operator knows. */
export type IdForm = 'any' | 'none' | 'dec_to_hex' | 'hex_to_dec'

const DECIMAL = /^\d{1,40}$/
const HEX = /^[\da-f]{1,40}$/i

/**
 * The ids that a receipt may mean, the likeliest first. Carriers answer in hexadecimal and report in decimal, or
 * the other way, with and without leading zeros, in large and small letters.
 */
export function possibleIds(id: string, form: IdForm): string[] {
  const spellings = form === 'none' ? [id] : [id, ...converted(id, form)]
  const all = spellings.flatMap((one) => [one, one.toLowerCase(), one.toUpperCase(), stripped(one)])
  return [...new Set(form === 'none' ? [id] : all)]
}

function converted(id: string, form: IdForm): string[] {
  const toHex = form !== 'hex_to_dec' && DECIMAL.test(id) ? [BigInt(id).toString(16)] : []
  const toDec = form !== 'dec_to_hex' && HEX.test(id) ? [BigInt(`0x${id}`).toString(10)] : []
  return [...toHex, ...toDec]
}

function stripped(id: string): string {
  return id.replace(/^0+(?=.)/, '').toLowerCase()
}

/** One spelling for all that may mean the same, to look an answer's id up by. */
export function idKey(id: string): string {
  return stripped(id)
}
