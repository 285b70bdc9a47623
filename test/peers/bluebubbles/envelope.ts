/** A response before it is written. Absent data and metadata are absent on the wire as well. */
export type Reply =
  | { status?: number; message?: string; data?: unknown; metadata?: unknown }
  | { file: { bytes: Buffer; mimeType: string; name: string } }
  /** Plain text from the web framework itself. */
  | { plain: number; text: string }

/** Thrown for every response with an error. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly type: string,
    readonly headline: string,
    readonly detail: string,
    readonly data?: unknown,
  ) {
    super(detail)
  }
}

export const NOT_FOUND: Reply = { plain: 404, text: 'Not Found' }

export const badRequest = (detail: string) =>
  new Refusal(
    400,
    'Validation Error',
    "You've made a bad request! Please check your request params & body",
    detail,
  )

export const unauthorised = (detail: string) =>
  new Refusal(401, 'Authentication Error', 'You are not authorized to access this resource', detail)

export const forbidden = (detail: string) =>
  new Refusal(403, 'Authentication Error', 'You are forbidden from accessing this resource', detail)

export const notFound = (detail: string) =>
  new Refusal(404, 'Database Error', 'The requested resource was not found', detail)

export const iMessageError = (headline: string, detail: string, data?: unknown) =>
  new Refusal(500, 'iMessage Error', headline, detail, data)

export const serverError = (detail: string, headline = 'The server has encountered an error') =>
  new Refusal(500, 'Server Error', headline, detail)

export const PRIVATE_API_GATE =
  'Please make sure you have completed the setup for the Private API, and your helper is connected!'

/** Any other exception becomes an "unhandled error" with its message. */
export function refusalOf(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  return serverError(
    error instanceof Error ? error.message : String(error),
    'An unhandled error has occurred!',
  )
}

export function errorBody({ status, type, headline, detail, data }: Refusal) {
  return { status, message: headline, error: { type, message: detail }, ...(data !== undefined && { data }) }
}

export function successBody({
  status = 200,
  message = 'Success',
  data,
  metadata,
}: Exclude<Reply, { file: unknown } | { plain: unknown }>) {
  return { status, message, ...(data !== undefined && { data }), ...(metadata !== undefined && { metadata }) }
}
