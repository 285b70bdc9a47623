import { Type } from 'typebox'
import { secretNames } from '../../core/lines/settings.js'
import type { Ctx } from '../../services/ctx.js'
import { checkedConfig, requireDriver } from '../../services/lines/config.js'
import { probeLine } from '../../services/lines/probe.js'
import { storedSecrets } from '../../services/lines/secrets.js'
import { findLine } from '../../storage/lines/lines.js'
import { requirePhone } from '../http/fields.js'
import type { Routes } from '../http/routes.js'
import { boolean, listOf, nullable, optional, string, strings } from '../http/schemas.js'
import { NewLine } from './line-settings.js'
import { admin, IdParams, required } from './shared.js'

const DriverWire = Type.Object(
  {
    kind: string('Value of `driver` of a line'),
    title: string('Name of the carrier'),
    settings: Type.Record(Type.String(), Type.Unknown(), {
      description:
        'JSON Schema of `config`. A property with `secret: true` is stored encrypted and never shown again.',
    }),
    secrets: strings('Names of the secret settings'),
    defaults: Type.Record(Type.String(), Type.Unknown(), {
      description: 'Default line settings of this driver where they differ from the general ones',
    }),
    capabilities: Type.Unsafe<Record<string, unknown> | null>({
      type: ['object', 'null'],
      additionalProperties: true,
      description: 'What a line with default settings can do; null when it depends on the settings',
    }),
    can_test: boolean('Whether settings can be tested without sending'),
  },
  { title: 'Driver' },
)

const TestedWire = Type.Object(
  {
    ok: boolean('Whether all tests passed'),
    findings: Type.Array(
      Type.Object({
        ok: boolean('Whether this test passed'),
        what: string('What was tested, and the result'),
        advice: nullable('string', 'What to do next'),
      }),
      { description: 'In test order' },
    ),
  },
  { title: 'LineTest' },
)

const DESCRIPTION =
  'Connects and signs in to the carrier without sending anything, and reports what it found, and whether calls of the carrier reach this server. Takes at most 30 seconds. Invalid settings answer 400; a carrier that does not work with them is a finding.'

/** Drivers, and tests of their settings. The tests store nothing, so they need no Idempotency-Key. */
export function registerAdminDrivers(app: Routes, ctx: Ctx): void {
  app.get(
    '/admin/drivers',
    admin({
      operationId: 'listDrivers',
      summary: 'List drivers',
      description: 'The drivers that a line can use, with the settings of each.',
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
          ...(driver.defaults?.paceUnit === undefined ? {} : { pace_unit: driver.defaults.paceUnit }),
          ...(driver.defaults?.settleMs === undefined ? {} : { settle_ms: driver.defaults.settleMs }),
          ...(driver.defaults?.consentReplies === undefined
            ? {}
            : { consent_replies: driver.defaults.consentReplies }),
        },
        capabilities: capabilitiesOf(() => driver.capabilities({})),
        can_test: driver.probe !== undefined,
      })),
    }),
  )
  app.post(
    '/admin/lines/test',
    admin({
      operationId: 'testLineSettings',
      summary: 'Test the settings of a new line',
      description: `${DESCRIPTION} Takes the body of POST /admin/lines, of which driver, number and config matter.`,
      example: { driver: 'simulator', number: '+12025550123' },
      body: Type.Object({
        ...Type.Partial(NewLine).properties,
        driver: string('Carrier; see GET /admin/drivers'),
        number: string('Number of the new line, E.164'),
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
      operationId: 'testLine',
      summary: 'Test the settings of a line',
      description: `${DESCRIPTION} The line itself does not change.`,
      params: IdParams,
      optionalBody: true,
      example: {},
      body: Type.Object({
        config: optional(
          Type.Record(Type.String(), Type.Unknown(), {
            description:
              'Settings to test instead of the stored ones; omitted secrets are the stored ones if the host is the stored one',
          }),
        ),
      }),
      response: { 200: TestedWire },
    }),
    async (request) => {
      const line = required(await findLine(ctx.db, request.params.id), 'line', request.params.id)
      const driver = requireDriver(ctx, line.driver)
      const stored = await storedSecrets(ctx, ctx.db, driver.config, line)
      const { open, secrets } = checkedConfig(driver, request.body.config ?? line.config, {
        open: line.config,
        secrets: stored,
      })
      const settings = { number: line.number, config: { ...open, ...secrets }, lineId: line.id }
      return testedWire(await probeLine(ctx, driver, settings))
    },
  )
}

function testedWire({ ok, findings }: Awaited<ReturnType<typeof probeLine>>) {
  return { ok, findings: findings.map((one) => ({ ok: one.ok, what: one.what, advice: one.advice ?? null })) }
}

/** Null when the driver needs settings to tell. */
function capabilitiesOf(read: () => object): Record<string, unknown> | null {
  try {
    return { ...read() }
  } catch {
    return null
  }
}
