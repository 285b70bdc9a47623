import type { ServerResponse } from 'node:http'
import { errorBody, type Refusal, type Reply, successBody } from './envelope.js'
import type { Fault } from './faults.js'
import type { Profile } from './profiles.js'

interface WriteOptions {
  pretty: boolean
  profile: Profile
  fault: Fault | undefined
}

/** Writes a response, whole or broken; returns its status. */
export function write(
  response: ServerResponse,
  reply: Reply | Refusal,
  { pretty, profile, fault }: WriteOptions,
): number {
  const { status, type, bytes, headers } = rendered(reply, pretty, profile)
  const truncated = fault?.kind === 'truncated'
  response.writeHead(status, {
    'Content-Type': fault?.kind === 'content-type' ? 'text/html' : type,
    ...headers,
    // The announced length is that of the whole body, which is then cut off.
    ...(truncated && { 'Content-Length': String(bytes.length) }),
  })
  if (truncated) response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => response.destroy())
  else response.end(bytes)
  return status
}

function rendered(reply: Reply | Refusal, pretty: boolean, profile: Profile) {
  const whole = (status: number, type: string, bytes: Buffer, headers: Record<string, string> = {}) => ({
    status,
    type,
    bytes,
    headers: { 'Content-Length': String(bytes.length), ...headers } as Record<string, string>,
  })
  const json = (status: number, body: unknown) =>
    whole(
      status,
      'application/json; charset=utf-8',
      Buffer.from(JSON.stringify(body, null, pretty ? 2 : undefined)),
    )
  if (reply instanceof Error) return json(reply.status, errorBody(reply))
  if ('plain' in reply) return whole(reply.plain, 'text/plain; charset=utf-8', Buffer.from(reply.text))
  if (!('file' in reply)) return json(reply.status ?? 200, successBody(reply))
  const { bytes, mimeType, name } = reply.file
  // Older servers send neither the length nor the name of a file.
  if (!profile.fileHeaders) return { status: 200, type: mimeType, bytes, headers: {} }
  return whole(200, mimeType, bytes, { 'Content-Disposition': `attachment; filename="${name}"` })
}
