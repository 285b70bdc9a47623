/** How the id in receipts differs from the one in answers, where an operator knows. */
export type IdForm = 'any' | 'none' | 'dec_to_hex' | 'hex_to_dec'

const DECIMAL = /^\d{1,40}$/
const HEX = /^[\da-f]{1,40}$/i

/**
 * The ids that a receipt may mean, the likeliest first. Carriers answer in hexadecimal and report in decimal, or
 * the other way, with and without leading zeros, in large and small letters.
 */
export function possibleIds(id: string, form: IdForm): string[] {
  if (form === 'none') return [id]
  // An operator who names the form knows; otherwise the carrier's own spelling is the likeliest.
  const others = converted(id, form)
  const keys = (form === 'any' ? [id, ...others] : [...others, id]).map((one) => idKey(one, form))
  return [...new Set([...keys, id, id.toLowerCase(), id.toUpperCase()])]
}

function converted(id: string, form: IdForm): string[] {
  const toHex = form !== 'hex_to_dec' && DECIMAL.test(id) ? [BigInt(id).toString(16)] : []
  const toDec = form !== 'dec_to_hex' && HEX.test(id) ? [BigInt(`0x${id}`).toString(10)] : []
  return [...toHex, ...toDec]
}

/** The id of an answer as it is kept: one spelling for all that mean the same number. */
export function idKey(id: string, form: IdForm): string {
  return form === 'none' || !HEX.test(id) ? id : id.replace(/^0+(?=.)/, '').toLowerCase()
}
