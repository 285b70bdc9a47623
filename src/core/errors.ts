/** An error that the caller sees. Every other error is logged and answered with a 500 without detail. */
export class AppError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly options: {
      retryAfterMs?: number
      /** Whether clients that retry by themselves should; without it, the status decides. */
      mayRetry?: boolean
      /** The queue that is full. */
      queue?: { length: number; waitMs: number }
      allow?: string
      details?: unknown
      /** A code for programs, if one status has several causes. */
      reason?: string
      /** `error_code` of the body, if clients expect another one than the usual code of message routes. */
      errorCode?: string
    } = {},
  ) {
    super(message)
  }
}

export type ErrorCode = keyof typeof HTTP_STATUS

export const HTTP_STATUS = {
  invalid: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  too_large: 413,
  uri_too_long: 414,
  unsupported_media_type: 415,
  idempotency_mismatch: 422,
  unprocessable: 422,
  rate_limited: 429,
  unavailable: 503,
} as const

/** Numeric codes in the answers and records of messages. */
export const MESSAGE_ERROR = {
  validation: 4000,
  rateLimit: 4001,
  blocked: 4002,
  internal: 5000,
  lineRate: 5003,
  failed: 10001,
  outcomeUnknown: 10002,
} as const
