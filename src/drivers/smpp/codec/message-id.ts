/** How ids in receipts differ from those in answers, where the operator knows. */
export type IdForm = 'any' | 'none' | 'dec_to_hex' | 'hex_to_dec'

const DECIMAL = /^\d{1,40}$/
const HEX = /^[\da-f]{1,40}$/i

/**
 * The ids that a receipt may refer to, most likely first. Some carriers answer in hexadecimal and report in
 * decimal, or the other way round, with or without leading zeros, in upper or lower case.
 */
export function possibleIds(id: string, form: IdForm): string[] {
  if (form === 'none') return [id]
  // A configured form comes first; otherwise the carrier's own spelling is the most likely.
  const others = convertId(id, form)
  const keys = (form === 'any' ? [id, ...others] : [...others, id]).map((one) => idKey(one, form))
  return [...new Set([...keys, id, id.toLowerCase(), id.toUpperCase()])]
}

function convertId(id: string, form: IdForm): string[] {
  const toHex = form !== 'hex_to_dec' && DECIMAL.test(id) ? [BigInt(id).toString(16)] : []
  const toDec = form !== 'dec_to_hex' && HEX.test(id) ? [BigInt(`0x${id}`).toString(10)] : []
  return [...toHex, ...toDec]
}

/** The stored form of an answer's id: one spelling for each number. */
export function idKey(id: string, form: IdForm): string {
  return form === 'none' || !HEX.test(id) ? id : id.replace(/^0+(?=.)/, '').toLowerCase()
}
