import { Type } from 'typebox'
import { secretNames } from '../../core/lines/settings.js'
import type { Ctx } from '../../services/ctx.js'
import { checkedConfig, requireDriver } from '../../services/lines/config.js'
import { probeLine } from '../../services/lines/probe.js'
import { storedSecrets } from '../../services/lines/secrets.js'
import { findLine } from '../../storage/lines/lines.js'
import { requirePhone } from '../http/fields.js'
import type { Routes } from '../http/routes.js'
import { boolean, nullable, optional, string, strings } from '../http/schemas.js'
import { DriverConfig } from './line-settings.js'
import { admin, IdParams, idOf, listOf, required } from './shared.js'

const DriverWire = Type.Object({
  kind: string('What `driver` of a line names it by'),
  title: string('The carrier, in words'),
  settings: Type.Record(Type.String(), Type.Unknown(), {
    description:
      'JSON Schema of `config`. A property with `secret: true` is kept sealed and never shown again.',
  }),
  secrets: strings('The settings that are secrets'),
  defaults: Type.Record(Type.String(), Type.Unknown(), {
    description: "A line's own settings where nobody gives any and the usual ones do not suit this carrier",
  }),
  capabilities: Type.Unsafe<Record<string, unknown> | null>({
    type: ['object', 'null'],
    additionalProperties: true,
    description: 'What a line can do where its settings say nothing about it; null: that depends on them',
  }),
  can_test: boolean('Whether settings can be tried out without sending'),
})

const TestedWire = Type.Object({
  ok: boolean('Whether everything that was tried works'),
  findings: Type.Array(
    Type.Object({
      ok: boolean('Whether this works'),
      what: string('What was tried, and what came of it'),
      advice: nullable('string', 'What to do about it'),
    }),
    { description: 'In the order in which they were tried' },
  ),
})

const DESCRIPTION =
  'Tries to reach the carrier and to sign in there, sends nothing, and says in words what it found. At most 30 seconds. Wrong settings are a 400 that names them; a carrier that does not work with them is a finding.'

/** The carriers that lines can use, and trying their settings out. Nothing is stored, so nothing happens but once. */
export function registerAdminDrivers(app: Routes, ctx: Ctx): void {
  app.get(
    '/admin/drivers',
    admin({
      summary: 'List drivers',
      description: 'The carriers that a line can use, with what each of them must be told.',
      response: { 200: listOf(DriverWire) },
    }),
    async () => ({
      data: [...ctx.drivers.values()].map((driver) => ({
        kind: driver.kind,
        title: driver.title,
        settings: driver.config as unknown as Record<string, unknown>,
        secrets: secretNames(driver.config),
        defaults: {
          ...(driver.defaults?.pace === undefined ? {} : { pace: driver.defaults.pace }),
          ...(driver.defaults?.settleMs === undefined ? {} : { settle_ms: driver.defaults.settleMs }),
        },
        capabilities: capabilitiesOf(() => driver.capabilities({})),
        can_test: driver.probe !== undefined,
      })),
    }),
  )
  app.post(
    '/admin/lines/test',
    admin({
      summary: 'Try the settings of a line before there is one',
      description: DESCRIPTION,
      body: Type.Object({
        driver: string('Carrier; see GET /admin/drivers'),
        number: string('The number that the line will have, E.164'),
        config: optional(DriverConfig),
      }),
      response: { 200: TestedWire },
    }),
    async ({ body }) => {
      const driver = requireDriver(ctx, body.driver)
      const number = requirePhone('number', body.number)
      const { open, secrets } = checkedConfig(driver, body.config ?? {})
      return testedWire(await probeLine(ctx, driver, { number, config: { ...open, ...secrets } }))
    },
  )
  app.post(
    '/admin/lines/:id/test',
    admin({
      summary: 'Try the settings of a line',
      description: `${DESCRIPTION} The line goes on as it is.`,
      params: IdParams,
      optionalBody: true,
      body: Type.Object({
        config: optional(
          Type.Record(Type.String(), Type.Unknown(), {
            description:
              'Settings to try instead of those it has; secrets that are left out are the stored ones',
          }),
        ),
      }),
      response: { 200: TestedWire },
    }),
    async (request) => {
      const line = required(await findLine(ctx.db, idOf(request)), 'line', idOf(request))
      const driver = requireDriver(ctx, line.driver)
      const stored = await storedSecrets(ctx, ctx.db, driver.config, line)
      const { open, secrets } = checkedConfig(driver, request.body.config ?? line.config, stored)
      const settings = { number: line.number, config: { ...open, ...secrets } }
      return testedWire(await probeLine(ctx, driver, settings))
    },
  )
}

function testedWire({ ok, findings }: Awaited<ReturnType<typeof probeLine>>) {
  return { ok, findings: findings.map((one) => ({ ok: one.ok, what: one.what, advice: one.advice ?? null })) }
}

/** A driver may need its settings to know. */
function capabilitiesOf(read: () => object): Record<string, unknown> | null {
  try {
    return { ...read() }
  } catch {
    return null
  }
}
