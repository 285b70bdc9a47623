/** One API call of the request log. */
export interface LoggedRequest {
  /** The account, `STRANGERS` or `ADMINS`. */
  accountId: string
  /** When the call arrived, by the machine's clock. */
  at: number
  /** The id that log lines of the server show as `req`. */
  id: string
  method: string
  /** Without the query; phone numbers are masked. */
  path: string
  status: number
  keyId: string | null
  /** Until the first byte of the answer, in microseconds. */
  durationUs: number
  errorCode: string | null
  errorMessage: string | null
  /** Names of fields and parameters that the route does not know. */
  ignored: string | null
  requestBody: string | null
  responseBody: string | null
}

/** A call before it is masked: that is left to the background. */
export interface AnsweredCall extends Omit<LoggedRequest, 'path'> {
  url: string
}

/** In place of an account: callers without a valid key. */
export const STRANGERS = ''
/** In place of an account: callers with an admin key. Ids of accounts are longer. */
export const ADMINS = 'admin'

export const MAX_BODY_MINUTES = 60
