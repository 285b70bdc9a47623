import { Type } from 'typebox'
import { formatTime } from '../../base/time.js'
import { keysEnded } from '../../core/accounts/harmless.js'
import type { Line } from '../../core/lines/line.js'
import { endLostChanges } from '../../services/audit/audit.js'
import { assignSeat } from '../../services/calls/forwarding.js'
import type { Ctx } from '../../services/ctx.js'
import { block, unblock } from '../../services/lines/blocks.js'
import { checkedConfig, requireDriver } from '../../services/lines/config.js'
import { changeLine, createLine, deleteLine, shareLine, unshareLine } from '../../services/lines/lines.js'
import { shownConfig, storedSecrets } from '../../services/lines/secrets.js'
import { hasOwnAdminKey } from '../../storage/accounts/accounts.js'
import { findCallSettings } from '../../storage/calls/forwarding.js'
import type { Sql } from '../../storage/engine/db.js'
import { findLine, listLineMembers, listLines } from '../../storage/lines/lines.js'
import { findLineHealth } from '../../storage/lines/states.js'
import { requirePhone } from '../http/fields.js'
import type { Routes } from '../http/routes.js'
import { boolean, listOf, nullable, optional, string, strings } from '../http/schemas.js'
import { NewLine, SETTINGS, SETTINGS_WIRE, settingsOf, settingsWire } from './line-settings.js'
import { AccountFilter, admin, createOnce, IdParams, required, worldAccounts } from './shared.js'

const LineSettings = Type.Object(
  {
    ...SETTINGS,
    blocked: optional(
      boolean(
        'true: the line cannot send, its waiting messages fail, and its accounts get line.blocked and line.status.changed. false: the line can send again, and its accounts get line.status.changed.',
      ),
    ),
    seat_id: optional(
      nullable(
        'string',
        "Seat that a dedicated line is assigned to: its id, or its subject at an outside identity provider. Calls to the line ring the seat's forwarding number first. null: none",
      ),
    ),
  },
  { title: 'LineChanges' },
)

const NewMember = Type.Object({ account_id: string('The account to add') }, { title: 'NewLineMember' })

const LineWire = Type.Object(
  {
    id: string('Id; worker_id in lists and events'),
    number: string('E.164'),
    kind: string('dedicated or shared'),
    world: string('live, or the id of the test world it belongs to'),
    account_id: nullable('string', 'Owner; null for a shared line'),
    members: strings('Accounts that use the shared line'),
    driver: string('Carrier'),
    config: Type.Record(Type.String(), Type.Unknown(), {
      description: 'Settings of the driver. Stored secrets are shown as `(kept)`.',
    }),
    capabilities: Type.Record(Type.String(), Type.Unknown(), { description: 'What the line can do' }),
    ...SETTINGS_WIRE,
    state: string('ONLINE, DEGRADED, OFFLINE or UNKNOWN'),
    state_detail: nullable('string', 'Detail of the state, from the driver'),
    blocked_at: nullable('string', 'Since when the line is blocked from sending'),
    seat_id: nullable('string', 'The seat it is assigned to'),
    forwarding_number: nullable('string', 'Number that calls to the line are forwarded to'),
    driven_here: boolean('Whether this process drives the line at the moment'),
    created_at: string('When it was created'),
  },
  { title: 'ManagedLine' },
)

const AddedLineWire = Type.Object(
  {
    ...LineWire.properties,
    notice: nullable(
      'string',
      'What else has changed with this line, such as the end of the development keys',
    ),
  },
  { title: 'AddedLine' },
)

export function registerAdminLines(app: Routes, ctx: Ctx): void {
  const lineWire = async (sql: Sql, line: Line) => {
    const health = await findLineHealth(sql, line.id)
    const calls = await findCallSettings(sql, line.id)
    return {
      id: line.id,
      number: line.number,
      kind: line.kind,
      world: line.network,
      account_id: line.accountId,
      members: await listLineMembers(sql, line.id),
      driver: line.driver,
      config: shownConfig(ctx, line),
      capabilities: ctx.drivers.get(line.driver)?.capabilities(line.config) ?? {},
      ...settingsWire(line),
      state: health?.state ?? 'UNKNOWN',
      state_detail: health?.detail ?? null,
      blocked_at: line.blockedAt === null ? null : formatTime(line.blockedAt),
      seat_id: calls.seatId,
      forwarding_number: calls.forwardingNumber,
      driven_here: ctx.lines.get(line.id) !== undefined,
      created_at: formatTime(line.createdAt),
    }
  }

  app.get(
    '/admin/lines',
    admin({
      operationId: 'listAllLines',
      summary: 'List lines',
      querystring: AccountFilter,
      response: { 200: listOf(LineWire) },
    }),
    async (request) => {
      const accountId = request.query.account_id
      const worlds = await worldAccounts(ctx)
      const found = (await listLines(ctx.db)).filter(({ network }) => accountId || !worlds.has(network))
      const lines = await Promise.all(found.map((line) => lineWire(ctx.db, line)))
      return {
        data: lines.filter(
          (line) => !accountId || line.account_id === accountId || line.members.includes(accountId),
        ),
      }
    },
  )
  app.post(
    '/admin/lines',
    admin({
      operationId: 'createLine',
      errors: { 404: 'There is no such account.', 409: 'The number is a line already.' },
      summary: 'Create a line',
      description:
        'The first line with a driver other than simulator ends the development keys; `notice` says so.',
      example: { account_id: '{account_id}', number: '+12025550123' },
      body: NewLine,
      response: { 201: AddedLineWire },
    }),
    async (request, reply) => {
      const { body } = request
      const driver = body.driver ?? 'simulator'
      const { open, secrets } = checkedConfig(requireDriver(ctx, driver), body.config ?? {})
      const number = requirePhone('number', body.number)
      const effect = async (sql: Sql) => {
        const { line, hasEndedKeys } = await createLine(ctx, sql, {
          number,
          kind: (body.kind ?? 'dedicated') as Line['kind'],
          accountId: body.account_id,
          driver,
          config: open,
          secrets,
          ...settingsOf(body),
        })
        const notice = hasEndedKeys ? await endOfHarmlessWorld(sql, body.account_id) : null
        const after = async () => {
          if (notice) ctx.log.warn({ line: line.id }, notice)
          if (hasEndedKeys) await endLostChanges(ctx, false)
          await ctx.exposure.load()
        }
        return { status: 201, body: { ...(await lineWire(sql, line)), notice }, after }
      }
      return createOnce(ctx, reply, effect, {
        isSecret: true,
        retries: async (sql, { id }) => (await findLine(sql, id)) !== undefined,
      })
    },
  )
  app.get(
    '/admin/lines/:id',
    admin({ operationId: 'getLine', summary: 'Show a line', params: IdParams, response: { 200: LineWire } }),
    async (request) =>
      lineWire(ctx.db, required(await findLine(ctx.db, request.params.id), 'line', request.params.id)),
  )
  app.patch(
    '/admin/lines/:id',
    admin({
      operationId: 'updateLine',
      summary: "Change a line's settings",
      description:
        'Takes effect at once. Attempts in progress finish first; waiting messages are sent with the new settings.',
      params: IdParams,
      example: { daily_limit: 500 },
      body: LineSettings,
      response: { 200: LineWire },
    }),
    async (request) => {
      const { body } = request
      const line = required(await findLine(ctx.db, request.params.id), 'line', request.params.id)
      if (body.config) {
        const driver = requireDriver(ctx, line.driver)
        const secrets = await storedSecrets(ctx, ctx.db, driver.config, line)
        checkedConfig(driver, body.config, { open: line.config, secrets })
      }
      if (body.seat_id !== undefined) await assignSeat(ctx, line, body.seat_id)
      if (body.blocked !== undefined) await (body.blocked ? block : unblock)(ctx, line.id)
      return lineWire(
        ctx.db,
        await changeLine(ctx, line.id, {
          ...(body.config ? { config: body.config } : {}),
          ...settingsOf(body),
        }),
      )
    },
  )
  app.post(
    '/admin/lines/:id/members',
    admin({
      operationId: 'addLineMember',
      summary: 'Add an account to a shared line',
      params: IdParams,
      example: { account_id: '{account_id}' },
      body: NewMember,
      response: { 201: LineWire },
    }),
    async (request, reply) => {
      const share = async (sql: Sql) => {
        const line = await shareLine(ctx, sql, request.params.id, request.body.account_id)
        return { status: 201, body: await lineWire(sql, line) }
      }
      return createOnce(ctx, reply, share, { retries: 'anew' })
    },
  )
  app.delete(
    '/admin/lines/:id/members/:account_id',
    admin({
      operationId: 'removeLineMember',
      summary: 'Remove an account from a shared line',
      description: 'Messages that the account sent before are still delivered.',
      params: Type.Object({ id: string('Id'), account_id: string('The account') }),
      response: { 204: Type.Null() },
    }),
    async (request, reply) => {
      await unshareLine(ctx, request.params.id, request.params.account_id)
      return reply.code(204).send(null)
    },
  )
  app.delete(
    '/admin/lines/:id',
    admin({
      operationId: 'deleteLine',
      summary: 'Remove a line; its waiting messages fail',
      params: IdParams,
      response: { 204: Type.Null() },
    }),
    async (request, reply) => {
      await deleteLine(ctx, request.params.id)
      return reply.code(204).send(null)
    },
  )
}

async function endOfHarmlessWorld(sql: Sql, accountId: string): Promise<string> {
  const command = (await hasOwnAdminKey(sql))
    ? `trunkline key create --account ${accountId}`
    : `trunkline init --account ${accountId}`
  const rest = 'URLs with loopback addresses end, too, unless TRUNKLINE_ALLOW_HOSTS names their hosts.'
  return `${keysEnded(['this line reaches real phones'], command)}. ${rest}`
}
