import { fieldsOf, textOf } from '../../../core/fields.js'
import type { LocationFix } from '../../../core/messages/extra.js'

/** What a person sent by RCS. */
export interface RcsBody {
  text: string
  files: string[]
  location: LocationFix | undefined
}

/** Reads the `body` of a message to an agent: a text, a file, a place, or the tap on a suggestion. */
export function rcsBodyOf(body: unknown): RcsBody {
  const { text, user_file: file, location, suggestion_response: tap } = fieldsOf(body)
  const { text: label, postback_data: data } = fieldsOf(tap)
  const uri = textOf(fieldsOf(fieldsOf(file).payload).file_uri)
  return {
    text: textOf(text) || textOf(label) || textOf(data),
    files: uri === '' ? [] : [uri],
    location: locationOf(location),
  }
}

function locationOf(value: unknown): LocationFix | undefined {
  const { latitude, longitude } = fieldsOf(value)
  const isWithin = (at: unknown, most: number): at is number => typeof at === 'number' && Math.abs(at) <= most
  return isWithin(latitude, 90) && isWithin(longitude, 180) ? { latitude, longitude } : undefined
}
