import { isDeepStrictEqual } from 'node:util'
import { SHORT_ID } from '../../base/ids.js'
import { type Account, networkOf } from '../../core/accounts/account.js'
import { isSimulated } from '../../core/accounts/harmless.js'
import { AppError, MESSAGE_ERROR } from '../../core/errors.js'
import type { NewEvent } from '../../core/events/event.js'
import { assignedEvent, unassignedEvent } from '../../core/lines/events.js'
import { DEFAULT_SETTINGS, type Line, type LineSettings } from '../../core/lines/line.js'
import { KEPT } from '../../core/lines/settings.js'
import { OUTCOME_UNKNOWN } from '../../core/messages/message.js'
import { failMessage } from '../../core/messages/outcome.js'
import { topics } from '../../core/topics.js'
import { findAccount, findAccountToExtend } from '../../storage/accounts/accounts.js'
import type { Sql } from '../../storage/engine/db.js'
import { appendEvents } from '../../storage/events/events.js'
import { dropCursor } from '../../storage/lines/cursors.js'
import {
  deleteLineMember,
  findLine,
  findLineByNumber,
  findLineToChange,
  insertLine,
  insertLineMember,
  listOrphans,
  removeLine,
  saveLine,
} from '../../storage/lines/lines.js'
import { dropPhoneLine } from '../../storage/lines/paired-phones.js'
import { dropLineSecrets } from '../../storage/lines/secrets.js'
import { findNextAttempts } from '../../storage/messages/attempts.js'
import { lockMessages } from '../../storage/messages/messages.js'
import { endDevelopmentKeys } from '../accounts/exposure.js'
import { endCallsOf } from '../calls/calls.js'
import type { Ctx } from '../ctx.js'
import { saveChanges } from '../messages/changes.js'
import { seedPhones } from '../sim/first-phones.js'
import { checkedConfig, requireDriver } from './config.js'
import { keepSecrets, type Settings, storedSecrets } from './secrets.js'
import { accountsOf } from './states.js'

export interface NewLine extends Partial<LineSettings> {
  number: string
  kind: Line['kind']
  /** Owner of a dedicated line, first member of a shared one. */
  accountId: string
  driver: string
  config: Record<string, unknown>
  /** The settings that must be sealed. */
  secrets?: Record<string, unknown>
  /** Writes no event: the account is created with this line. */
  quiet?: boolean
}

/**
 * Creates a line of an account, and a simulated line with the same number in its test world, so that programs run
 * there unchanged. The development keys end with the first line that reaches real phones.
 */
export async function createLine(
  ctx: Ctx,
  sql: Sql,
  input: NewLine,
): Promise<{ line: Line; hasEndedKeys: boolean }> {
  const account = await findAccountToExtend(sql, input.accountId)
  if (account?.world !== 'live') throw new AppError('not_found', `There is no account ${input.accountId}`)
  const line = await addLine(ctx, sql, account, input)
  const assigned = [assignedEvent(account.id, line, line.createdAt)]
  const twin = await findAccount(sql, account.twinId)
  if (twin && !(await findLineByNumber(sql, networkOf(twin), input.number))) {
    const capabilities = ctx.drivers.get(input.driver)!.capabilities(input.config)
    const simulated = await addLine(ctx, sql, twin, {
      ...input,
      driver: 'simulator',
      config: isSimulated(input)
        ? input.config
        : {
            services: [...capabilities.services],
            mac: capabilities.carousel && capabilities.services.includes('iMessage'),
          },
      secrets: {},
    })
    assigned.push(assignedEvent(twin.id, simulated, simulated.createdAt))
  }
  if (!input.quiet) await appendEvents(sql, assigned)
  return { line, hasEndedKeys: !isSimulated(line) && (await endDevelopmentKeys(ctx, sql)) }
}

async function addLine(ctx: Ctx, sql: Sql, account: Account, input: NewLine): Promise<Line> {
  const network = networkOf(account)
  if (await findLineByNumber(sql, network, input.number)) {
    throw new AppError('conflict', `number: ${input.number} is a line already`)
  }
  const line: Line = {
    id: ctx.random.text(SHORT_ID),
    network,
    number: input.number,
    kind: input.kind,
    accountId: input.kind === 'dedicated' ? account.id : null,
    poolId: null,
    driver: input.driver,
    config: input.config,
    ...settingsOf(input, ctx.drivers.get(input.driver)?.defaults),
    createdAt: ctx.clock.now(),
    blockedAt: null,
    resets: 0,
    revision: 0,
  }
  await insertLine(sql, line)
  await keepSecrets(ctx, sql, line.id, input.secrets ?? {})
  if (line.kind === 'shared') await insertLineMember(sql, line.id, account.id)
  if (line.driver === 'simulator') await seedPhones(ctx, sql, account)
  sql.announce(topics.lines, line.id)
  return line
}

function settingsOf(input: Partial<LineSettings>, defaults: Partial<LineSettings> = {}): LineSettings {
  const settings = { ...DEFAULT_SETTINGS, ...defaults }
  for (const name of Object.keys(settings) as (keyof LineSettings)[])
    if (input[name] !== undefined) Object.assign(settings, { [name]: input[name] })
  return settings
}

/** Adds an account to a shared line; its test world gets a simulated line. */
export async function shareLine(ctx: Ctx, sql: Sql, lineId: string, accountId: string): Promise<Line> {
  const account = await findAccountToExtend(sql, accountId)
  const line = await findLine(sql, lineId)
  if (!line) throw new AppError('not_found', `There is no line ${lineId}`)
  if (!account || networkOf(account) !== line.network)
    throw new AppError('not_found', `There is no account ${accountId}`)
  if (line.kind !== 'shared') throw new AppError('invalid', 'Only a shared line has members')
  const now = ctx.clock.now()
  const assigned = (await insertLineMember(sql, line.id, account.id))
    ? [assignedEvent(account.id, line, now)]
    : []
  sql.announce(topics.members(line.id))
  if (line.driver === 'simulator') await seedPhones(ctx, sql, account)
  const twin = await findAccount(sql, account.twinId)
  if (twin && twin.world === 'test' && !(await findLineByNumber(sql, networkOf(twin), line.number))) {
    const config = { ...line, accountId: twin.id, driver: 'simulator', config: {} }
    assigned.push(assignedEvent(twin.id, await addLine(ctx, sql, twin, config), now))
  }
  await appendEvents(sql, assigned)
  return line
}

/**
 * Removes an account from a shared line, and its test world from the simulated one. Messages that it has sent are
 * still delivered.
 */
export async function unshareLine(ctx: Ctx, lineId: string, accountId: string): Promise<void> {
  await ctx.db.tx(async (sql) => {
    const line = await findLine(sql, lineId)
    if (!line) throw new AppError('not_found', `There is no line ${lineId}`)
    if (!(await deleteLineMember(sql, line.id, accountId)))
      throw new AppError('not_found', `The account ${accountId} does not use this line`)
    sql.announce(topics.members(line.id))
    const now = ctx.clock.now()
    const events = [unassignedEvent(accountId, line, now)]
    const account = await findAccount(sql, accountId)
    const twin = account?.world === 'live' ? await findAccount(sql, account.twinId) : undefined
    const simulated = twin && (await findLineByNumber(sql, networkOf(twin), line.number))
    if (simulated?.kind === 'shared') events.push(...(await retire(sql, simulated, now)))
    await appendEvents(sql, events)
  })
  ctx.directory.forget()
  await failOrphans(ctx)
}

export type LineChanges = Partial<Pick<Line, 'config'> & LineSettings>

export async function changeLine(ctx: Ctx, id: string, changes: LineChanges): Promise<Line> {
  const line = await ctx.db.tx(async (sql) => {
    const before = await findLineToChange(sql, id)
    if (!before) throw new AppError('not_found', `There is no line ${id}`)
    const after = { ...before, ...changes }
    if (changes.config) Object.assign(after, await configured(ctx, sql, before, changes.config))
    await saveLine(sql, after)
    return after
  })
  linesChanged(ctx, [id])
  return line
}

/** Stores new settings and secrets; secrets that are left out stay. */
async function configured(
  ctx: Ctx,
  sql: Sql,
  line: Line,
  given: Settings,
): Promise<Pick<Line, 'config' | 'revision'>> {
  const driver = requireDriver(ctx, line.driver)
  const stored = await storedSecrets(ctx, sql, driver.config, line)
  const { open, secrets } = checkedConfig(driver, given, { open: line.config, secrets: stored })
  const areSealed = Object.keys(stored).every((name) => line.config[name] === KEPT)
  if (areSealed && isDeepStrictEqual(secrets, stored)) return { config: open, revision: line.revision }
  await keepSecrets(ctx, sql, line.id, secrets)
  return { config: open, revision: line.revision + 1 }
}

/** Removes a line. Its waiting messages end as an error that says so. */
export async function deleteLine(ctx: Ctx, id: string): Promise<Line> {
  const line = await ctx.db.tx(async (sql) => {
    const found = await findLine(sql, id)
    if (!found) throw new AppError('not_found', `There is no line ${id}`)
    await appendEvents(sql, await retire(sql, found, ctx.clock.now()))
    return found
  })
  ctx.directory.forget()
  await failOrphans(ctx)
  return line
}

/** Takes a line out of use and returns the events for its accounts. */
async function retire(sql: Sql, line: Line, now: number): Promise<NewEvent[]> {
  if (!(await removeLine(sql, line.id, now))) throw new AppError('not_found', `There is no line ${line.id}`)
  sql.announce(topics.lines, line.id)
  await dropCursor(sql, line.id)
  await dropLineSecrets(sql, line.id)
  await dropPhoneLine(sql, line.id)
  const accounts = await accountsOf(sql, line)
  return [
    ...(await endCallsOf(sql, line.id, now)),
    ...accounts.map((accountId) => unassignedEvent(accountId, line, now)),
  ]
}

/** Forgets cached lines and wakes the worker for these lines only: a change costs nothing for all others. */
export function linesChanged(ctx: Ctx, lineIds: readonly string[]): void {
  ctx.directory.forget()
  for (const id of lineIds) ctx.wakes.wake(topics.lines, id)
}

const AT_ONCE = 50

/** Ends the waiting messages of removed lines. */
export async function failOrphans(ctx: Ctx): Promise<void> {
  for (;;) {
    const done = await ctx.db.tx(async (sql) => {
      const now = ctx.clock.now()
      const wireSince = now - 2 * ctx.config.wireTimeoutMs
      const orphans = await listOrphans(sql, wireSince, AT_ONCE)
      const messages = await lockMessages(sql, [...orphans.keys()])
      // Another process may have started to send one before it was locked.
      const attempts = await findNextAttempts(sql, [...messages.values()])
      const isOnWire = (id: number) => {
        const attempt = attempts.get(id)
        return attempt?.state === 'on_wire' && attempt.wireAt >= wireSince
      }
      const changes = [...messages.values()]
        .filter((message) => message.nextActionAt !== null && !isOnWire(message.id))
        .map((before) => {
          const mayBeOut = before.status === 'PENDING' || orphans.get(before.id)
          const error = mayBeOut
            ? {
                code: MESSAGE_ERROR.outcomeUnknown,
                reason: OUTCOME_UNKNOWN,
                message: 'The line was removed before the carrier said whether it took the message',
              }
            : {
                code: MESSAGE_ERROR.failed,
                reason: 'line_removed',
                message: 'The line was removed before the message was sent',
              }
          return { before, after: failMessage(before, now, { ...error, detail: null }) }
        })
      await saveChanges(sql, changes)
      return orphans.size
    })
    if (done < AT_ONCE) return
  }
}
