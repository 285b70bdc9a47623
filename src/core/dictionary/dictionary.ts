import { API_ERRORS } from './api-errors.js'
import type { Entry } from './entry.js'
import { MESSAGE_ERRORS } from './message-errors.js'
import { VERDICT_ENTRIES } from './verdicts.js'

interface Chapter {
  title: string
  about: string
  entries: readonly (Entry & { code: string; anchor: string })[]
}

const chapter = (
  title: string,
  about: string,
  entries: Readonly<Record<string, Entry>>,
  prefix = '',
): Chapter => ({
  title,
  about,
  entries: Object.entries(entries).map(([code, entry]) => ({ code, anchor: `${prefix}${code}`, ...entry })),
})

/** Every code that a user may meet, for the page /docs/errors and docs/errors.md. */
export const DICTIONARY: readonly Chapter[] = [
  chapter(
    'Refused requests',
    'What an answer with an error means. On /v3, /admin and /sim the code is in error.code; elsewhere the HTTP status tells it. The header Link of every such answer leads here, and error_url where there is an error.code.',
    API_ERRORS,
  ),
  chapter(
    'Codes of messages',
    'error_code of a message that failed, and of refused requests about messages.',
    MESSAGE_ERRORS,
  ),
  chapter(
    'Verdicts',
    'The verdict of "trunkline why" and of GET /v3/messages/{handle}/why.',
    VERDICT_ENTRIES,
    'why-',
  ),
]
