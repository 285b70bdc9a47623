import type { ErrorCode } from '../errors.js'
import type { Entry } from './entry.js'

/** Codes of refused requests. Own routes name them as `error.code`. */
export const API_ERRORS: Readonly<Record<ErrorCode | 'internal' | 'INVALID_REACTION', Entry>> = {
  invalid: {
    means: 'The request is not valid. Nothing was done. HTTP 400.',
    why: 'A field is missing, has the wrong type or a value that is not allowed, or the body is not valid JSON.',
    next: 'Read the message: it begins with the name of the field. Correct it and send the request again.',
  },
  unauthorized: {
    means: 'The server does not know who is calling. HTTP 401.',
    why: 'The key or token is missing, unknown, revoked or expired, or its secret is wrong. The development keys work only on a server that others cannot reach.',
    next: 'Check the headers sb-api-key-id and sb-api-secret-key, or the bearer token. Create keys with "trunkline init" or "trunkline key create".',
  },
  forbidden: {
    means: 'The key or token is valid but may not do this. HTTP 403.',
    why: 'The route needs an admin key, a key of an account or a live key, or the token is confined to other lines.',
    next: 'Use a key of the kind that the message names.',
  },
  not_found: {
    means: 'It does not exist, or it belongs to another account. HTTP 404.',
    why: 'The id is wrong, the object was deleted, the key is one of another world (live or test), or the path does not exist.',
    next: 'Check the id and the key. /openapi.json lists every path.',
  },
  method_not_allowed: {
    means: 'The path exists, but not for this HTTP method. HTTP 405.',
    why: 'The request used GET where the route needs POST, for example.',
    next: 'Use a method that the header Allow names.',
  },
  conflict: {
    means: 'The request does not fit the current state. HTTP 409.',
    why: 'The object exists already, or it has ended and cannot change any more.',
    next: 'Read what exists before you send another request. Repeating the same request does not help.',
  },
  too_large: {
    means: 'The body or file is too large. HTTP 413.',
    why: 'Each route has a limit: 1 MB for most bodies, 100 MB for files.',
    next: 'Send less at once, or upload the file and send its URL.',
  },
  uri_too_long: {
    means: 'A part of the path is too long. HTTP 414.',
    why: 'A part of the path has more than 512 characters, which no id has.',
    next: 'Check how your program makes the path.',
  },
  unsupported_media_type: {
    means: 'The server does not read this kind of body. HTTP 415.',
    why: 'The Content-Type or its charset is not one that the route reads, or the body is compressed.',
    next: 'Send application/json in UTF-8, uncompressed. Files go as multipart/form-data.',
  },
  idempotency_mismatch: {
    means: 'The Idempotency-Key was used before with another body. HTTP 422.',
    why: 'A key names one request. The server keeps it for 48 hours.',
    next: 'Use a new key for a new request. To repeat a request, repeat its body exactly.',
  },
  unprocessable: {
    means: 'The request is valid, but this line or message cannot do it. HTTP 422.',
    why: 'For example a reaction to an SMS, or a name and photo on a line that has none.',
    next: 'Read the message. Use another line, or leave the feature out for this recipient.',
  },
  rate_limited: {
    means: 'Too many requests. HTTP 429.',
    why: 'The account has used up a budget, or this address has sent too many wrong keys.',
    next: 'Wait as long as the header Retry-After says. GET /v3/usage shows the budgets.',
  },
  unavailable: {
    means: 'The server cannot take the request now. It had no effect. HTTP 503.',
    why: 'The queue of the line is full, the database does not answer, the disk is nearly full, or the server is stopping.',
    next: 'Repeat the request after Retry-After. If it lasts, the operator looks at /readyz and "trunkline doctor".',
  },
  internal: {
    means: 'The server made a mistake. HTTP 500.',
    why: 'Something happened that the program does not expect.',
    next: "Repeat the request with the same Idempotency-Key. The operator finds the cause in the server's log.",
  },
  INVALID_REACTION: {
    means: 'The reaction is not one that iMessage has. HTTP 400.',
    why: 'A reaction is love, like, dislike, laugh, emphasize, question or exactly one emoji. A leading - removes it.',
    next: 'Send one of these.',
  },
}
