import { lockContacts } from '../contacts/contacts.js'
import type { Db, Param, Sql } from '../engine/db.js'
import { nowOf } from '../lines/leases.js'

/** Whose world it is, and the lines that nobody else uses: what happens on those is all of it. */
export interface WorldScope {
  accountId: string
  lines: readonly string[]
}

export interface WorldTable {
  name: string
  /** Which of its rows belong to the world: {account} and {lines} stand for the scope. */
  where: string
}

const byAccount = (name: string): WorldTable => ({ name, where: 'account_id = {account}' })
/** Phones and what is on them: the account's id names their network. */
const byNetwork = (name: string): WorldTable => ({ name, where: 'network = {account}' })
const byLine = (name: string): WorldTable => ({ name, where: 'line_id {lines}' })
const OWN = '(select id from messages where account_id = {account})'

/**
 * Everything that happens in a simulated world, what depends on others before them. Accounts, keys, seats and
 * lines are not in it: they are the world's frame.
 */
export const WORLD_TABLES: readonly WorldTable[] = [
  {
    name: 'webhook_attempts',
    where: 'delivery_id in (select id from webhook_deliveries where account_id = {account})',
  },
  byAccount('webhook_deliveries'),
  byAccount('webhook_faults'),
  byAccount('alerts'),
  byNetwork('phone_reactions'),
  byNetwork('phone_messages'),
  { name: 'attempts', where: `message_id in ${OWN}` },
  { name: 'group_members', where: 'group_id in (select id from group_chats where account_id = {account})' },
  byAccount('group_chats'),
  {
    name: 'phone_group_changes',
    where: 'chat_id in (select id from phone_groups where account_id = {account})',
  },
  byAccount('phone_groups'),
  byAccount('messages'),
  byAccount('message_counts'),
  byAccount('usage_days'),
  { name: 'account_totals', where: "account_id = {account} and name = 'scheduled'" },
  byAccount('opt_outs'),
  byAccount('line_turns'),
  byAccount('pool_conversations'),
  byAccount('contacts'),
  byAccount('contact_counts'),
  byAccount('contact_labels'),
  byAccount('verified_contacts'),
  byAccount('verify_services'),
  byAccount('verifications'),
  byAccount('totp_secrets'),
  byAccount('card_sessions'),
  byAccount('blocked_callers'),
  byAccount('sim_faults'),
  byLine('parked_receipts'),
  byLine('line_strangers'),
  byLine('location_fixes'),
  byLine('profile_requests'),
  byLine('profile_shares'),
  byLine('echoes'),
  byLine('unthanked_messages'),
  byLine('message_parts'),
  byAccount('conversation_holds'),
  byLine('calls'),
  byNetwork('calls'),
  byNetwork('phone_typing'),
  byNetwork('sim_locations'),
  byNetwork('sim_location_requests'),
  byLine('sim_profiles'),
  byNetwork('sim_cards'),
  byNetwork('phones'),
  byAccount('events'),
  byAccount('replays'),
  byLine('line_actions'),
  byAccount('line_days'),
  byLine('line_states'),
  byLine('attempt_parts'),
]

/** The account itself with its keys, seats and lines, in the order of their foreign keys. */
const FRAME: readonly WorldTable[] = [
  byAccount('account_totals'),
  byAccount('retention_policies'),
  byAccount('webhook_endpoints'),
  byAccount('webhook_settings'),
  byAccount('webhook_feeds'),
  {
    name: 'console_sessions',
    where: 'account_key_id in (select id from keys where account_id = {account})',
  },
  byAccount('tokens'),
  byAccount('keys'),
  byAccount('seats'),
  byAccount('sender_pools'),
  ...['line_cursors', 'line_secrets', 'line_leases', 'line_members', 'phone_lines'].map(byLine),
  { name: 'lines', where: 'id {lines}' },
  byAccount('event_counters'),
  { name: 'accounts', where: 'id = {account}' },
]

/** Makes a condition a piece of SQL with its parameters: only those that it names. */
export function bindScope(
  sql: Sql,
  where: string,
  scope: WorldScope,
  ids: readonly number[] = [],
): { where: string; params: Param[] } {
  const params: Param[] = []
  const places = new Map<string, string>()
  const text = where.replace(/\{(account|lines|ids)\}/g, (_, name: string) => {
    const known = places.get(name)
    if (known) return known
    const at = params.length + 1
    const value = {
      account: { sql: `$${at}`, param: scope.accountId },
      lines: sql.inList(at, scope.lines),
      ids: sql.inIds(at, ids),
    }[name as 'account']
    params.push(value.param)
    places.set(name, value.sql)
    return places.get(name)!
  })
  return { where: text, params }
}

/** Empties a world; the account, its keys, seats and lines stay. */
export function deleteWorld(sql: Sql, scope: WorldScope): Promise<void> {
  return deleteFrom(sql, WORLD_TABLES, scope)
}

/** Deletes an account whose telephone network is its own, after `deleteWorld`. */
export function deleteFrame(sql: Sql, scope: WorldScope): Promise<void> {
  return deleteFrom(sql, FRAME, scope)
}

async function deleteFrom(sql: Sql, tables: readonly WorldTable[], scope: WorldScope): Promise<void> {
  // In their order, without waiting for each.
  await Promise.all(
    tables.map(({ name, where }) => {
      const bound = bindScope(sql, where, scope)
      return sql.run(`delete from ${name} where ${bound.where}`, bound.params)
    }),
  )
}

/**
 * The lines of an account, gone ones too: those that only it uses, and whether all are simulated. A line that is
 * shared with others is not its alone, but has to be simulated, too.
 */
export async function findWorldLines(
  sql: Sql,
  accountId: string,
): Promise<{ own: string[]; joint: string[]; simulated: boolean }> {
  const rows = await sql.all<{ id: string; driver: string; others: number }>(
    `select l.id, l.driver,
       (select count(*) from line_members o where o.line_id = l.id and o.account_id <> $1) as others
     from lines l where l.account_id = $1 or l.id in (select line_id from line_members where account_id = $1)`,
    [accountId],
  )
  return {
    own: rows.filter(({ others }) => others === 0).map(({ id }) => id),
    joint: rows.filter(({ others }) => others > 0).map(({ id }) => id),
    simulated: rows.every(({ driver }) => driver === 'simulator'),
  }
}

/** Time for which no process may drive held lines: longer than a reset takes, and it ends after a crash. */
export const HOLD_MS = 10_000

/** Like `fenceLines`, and no process drives these lines until `fenceLines` is called. */
export async function holdLines(sql: Sql, lines: readonly string[]): Promise<void> {
  const list = sql.inList(1, lines)
  const until = `${nowOf(sql)} + ${HOLD_MS}`
  await sql.run(`update lines set resets = resets + 1 where id ${list.sql}`, [list.param])
  await sql.run(
    `insert into line_leases (line_id, node_id, epoch, expires_at)
     select id, '', 1, ${until} from lines where id ${list.sql}
     on conflict (line_id) do update set node_id = '', epoch = line_leases.epoch + 1, expires_at = ${until}`,
    [list.param],
  )
}

/** Work that began on these lines earlier stores nothing any more, and any process may drive them anew. */
async function fenceLines(sql: Sql, lines: readonly string[]): Promise<void> {
  const list = sql.inList(1, lines)
  await sql.run(`update lines set resets = resets + 1 where id ${list.sql}`, [list.param])
  await sql.run(`update line_leases set epoch = epoch + 1, expires_at = 0 where line_id ${list.sql}`, [
    list.param,
  ])
}

/** A line may send again, and calls to it go nowhere else. */
export async function freeLines(sql: Sql, lines: readonly string[]): Promise<void> {
  const list = sql.inList(1, lines)
  await sql.run(
    `update lines set blocked_at = null, seat_id = null, forwarding_number = null where id ${list.sql}`,
    [list.param],
  )
}

/** Brings a line back that was removed, unless its number has another one now. */
export async function reviveLine(sql: Sql, id: string): Promise<void> {
  await sql.run(
    `update lines set removed_at = null where id = $1 and removed_at is not null and not exists
       (select 1 from lines o where o.network = lines.network and o.number = lines.number and o.removed_at is null)`,
    [id],
  )
}

/**
 * Locks a world until the commit: its lines are fenced, and nothing of it is stored, turned into deliveries or posted.
 * Other transactions may hold rows of the world, so it fails after a short wait: PostgreSQL detects a deadlock only
 * after a second.
 */
export async function seizeWorld(
  sql: Sql,
  { accountId }: WorldScope,
  lines: readonly string[],
): Promise<void> {
  if (sql.engine === 'postgres') await sql.run("set local lock_timeout = '50ms'")
  await fenceLines(sql, lines)
  if (sql.engine !== 'postgres') return
  // The order in which inbound messages and results of sends lock these rows.
  await lockContacts(sql, accountId)
  for (const rows of [
    `attempts where message_id in ${OWN.replace('{account}', '$1')}`,
    'webhook_feeds where account_id = $1',
    'event_counters where account_id = $1',
    'webhook_deliveries where account_id = $1',
  ])
    await sql.run(`select count(*) from (select 1 from ${rows} for update) locked`, [accountId])
}

/** Nothing of what has happened so far is turned into deliveries any more. */
export async function skipFeed(sql: Sql, accountId: string): Promise<void> {
  await sql.run(
    `update webhook_feeds set seq = (select last_seq from event_counters c where c.account_id = $1)
     where account_id = $1`,
    [accountId],
  )
}

const LOOK_AGAIN_MS = 2
const PATIENCE_MS = 5000

/**
 * Resolves when every transaction that was open has ended: none is left that did not see what is committed now. On
 * SQLite they come one after the other anyway.
 */
export async function outlastTransactions(db: Db): Promise<void> {
  if (db.engine === 'sqlite') return
  let open = await listOpenTransactions(db)
  for (const deadline = Date.now() + PATIENCE_MS; open.length > 0 && Date.now() < deadline; ) {
    await new Promise((done) => setTimeout(done, LOOK_AGAIN_MS))
    const now = new Set(await listOpenTransactions(db))
    open = open.filter((one) => now.has(one))
  }
}

/**
 * Transactions of Trunkline that have written, and running statements: a statement sees the state of its start and
 * may write later.
 */
async function listOpenTransactions(db: Db): Promise<string[]> {
  const rows = await db.all<{ name: string }>(
    `select pid || ' ' || xact_start as name from pg_stat_activity
     where datname = current_database() and application_name = 'trunkline' and pid <> pg_backend_pid()
       and xact_start is not null and (backend_xid is not null or state = 'active')`,
  )
  return rows.map((row) => row.name)
}
