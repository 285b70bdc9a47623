import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { AppError } from '../../core/errors.js'
import { RUN_ID } from '../../core/sim/run.js'

/** Test runs on the wire: the header X-Run-Id, or the field run_id of a body. */

export const RunField = Type.Optional(
  Type.String({
    pattern: RUN_ID.source,
    description:
      'The test run this belongs to, 1 to 64 of A-Z a-z 0-9 . _ : -; the header X-Run-Id says the same. Records, inboxes, webhook deliveries and resets can be limited to it.',
  }),
)

export const RunQuery = Type.Optional(
  Type.String({ pattern: RUN_ID.source, description: 'Only what belongs to this test run' }),
)

export function runOf(request: FastifyRequest): string | undefined {
  const header = request.headers['x-run-id']
  const field = (request.body as { run_id?: unknown } | null | undefined)?.run_id
  if (header === undefined && field === undefined) return undefined
  const run = header ?? field
  if (typeof run !== 'string' || !RUN_ID.test(run))
    throw new AppError(
      'invalid',
      `${header === undefined ? 'run_id' : 'X-Run-Id'}: must be 1 to 64 characters of A-Z a-z 0-9 . _ : -`,
    )
  if (field !== undefined && field !== run)
    throw new AppError('invalid', 'run_id: differs from the header X-Run-Id; give one of them')
  return run
}
