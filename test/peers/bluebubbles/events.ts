import { columnsOf, type MessageRow } from './chat-db.js'
import { createDispatch, type Switches } from './dispatch.js'
import { messageView } from './projections.js'
import { type Mac, now } from './state.js'

const WEEK = 7 * 24 * 3_600_000
const TYPING_REPEAT_MS = 5000
/** Time limit for matching a row to its send. */
const AWAITED_MS = 120_000

/** The state that the server compares to detect a change; `error` and `is_sent` are not in it. */
const stateOf = (row: MessageRow) =>
  [
    row.date_delivered,
    row.is_delivered,
    row.date_read,
    row.date_edited,
    row.date_retracted,
    row.did_notify_recipient,
  ].join()

export type Events = ReturnType<typeof createEvents>

/** Watches the database and sends events to the webhooks. */
export function createEvents(mac: () => Mac, switches: Switches) {
  const dispatch = createDispatch(mac, switches)
  /** State of each announced row, by guid; lost on restart. */
  let seen = new Map<string, string>()
  let typing = new Map<string, { display: boolean; at: number }>()
  /** Sends whose row has not appeared yet. */
  let awaited: { tempGuid: string; text: string; since: number }[] = []
  let due = false
  let running = true

  function newest(limit: number | null): MessageRow[] {
    // The server queries messages with their chats, so it sees linked rows only.
    return mac()
      .db.all<MessageRow>(
        `select distinct ${columnsOf('message')} from message join chat_message_join link on link.message_id = message.ROWID
         order by message.date desc, message.ROWID desc ${limit ? `limit ${limit}` : ''}`,
      )
      .reverse()
  }

  function poll() {
    due = false
    if (!running || switches.watcherDead) return
    for (const row of newest(switches.newestOnly)) {
      const state = stateOf(row)
      const known = seen.get(row.guid)
      if (known === state) continue
      seen.set(row.guid, state)
      if (known !== undefined) dispatch.emit('updated-message', view(row, false))
      else announce(row)
    }
  }

  /** A group change is announced as its own event and again as a message. */
  function announce(row: MessageRow) {
    const event = groupEvent(row)
    if (event) dispatch.emit(event, view(row, true))
    if (row.is_from_me && row.error) {
      const tempGuid = takeTempGuid(row)
      dispatch.emit('message-send-error', { ...view(row, true), ...(tempGuid && { tempGuid }) })
      return
    }
    const tempGuid = row.is_from_me ? takeTempGuid(row) : undefined
    if (tempGuid) dispatch.emit('new-message', withTempGuid(view(row, true), tempGuid))
    const shown = view(row, true)
    dispatch.emit('new-message', switches.emptyAttachmentsFirst ? { ...shown, attachments: [] } : shown)
  }

  /** Compares letters and digits only, so equal texts may swap their tempGuids. */
  function takeTempGuid(row: MessageRow): string | undefined {
    const text = bare(String(row.text ?? ''))
    awaited = awaited.filter(({ since }) => since > now(mac()) - AWAITED_MS)
    const index = awaited.findIndex((item) => bare(item.text) === text)
    return index < 0 ? undefined : awaited.splice(index, 1)[0]!.tempGuid
  }

  const view = (row: MessageRow, chats: boolean) =>
    messageView(mac().db, row, {
      notification: true,
      chats,
      osVersion: mac().flags.osVersion,
      convertsHeic: mac().flags.convertsHeic,
      chatParticipants: mac().flags.membersInEvents,
    })

  return {
    switches,
    dispatch,
    /** The database changed. */
    changed() {
      if (due) return
      due = true
      setImmediate(poll)
    },
    emit: dispatch.emit,
    awaitTempGuid(tempGuid: string, text: string) {
      awaited.push({ tempGuid, text, since: now(mac()) })
    },
    /** A person types. The server reports no typing in groups, and no repeat within five seconds. */
    typing(guid: string, display: boolean) {
      if (guid.includes(';+;')) return
      const last = typing.get(guid)
      const at = now(mac())
      if (last && last.display === display && at - last.at < TYPING_REPEAT_MS) return
      typing.set(guid, { display, at })
      dispatch.emit('typing-indicator', { display, guid })
    },
    /**
     * Announces changed rows of the last week as new, because the server forgets rows after an hour; with `all`,
     * every row.
     */
    replay(all = false) {
      const rows = newest(null).filter((row) => (row.date as number) > now(mac()) - WEEK)
      for (const row of rows)
        if (all || row.date_edited || row.date_retracted || row.did_notify_recipient) announce(row)
    },
    stop() {
      running = false
    },
    /** Starts without announcing existing rows. */
    start() {
      running = true
      typing = new Map()
      awaited = []
      seen = new Map()
      if (switches.seedSilently) for (const row of newest(null)) seen.set(row.guid, stateOf(row))
      switches.watcherDead = false
      if (!switches.seedSilently) this.changed()
      dispatch.emit('hello-world', null)
    },
    /** Whether all events are sent. */
    settled: () => !due && dispatch.idle(),
  }
}

const bare = (text: string) => text.replace(/[^\p{L}\p{N}]/gu, '')

const withTempGuid = ({ originalROWID, guid, ...rest }: Record<string, unknown>, tempGuid: string) => ({
  originalROWID,
  guid,
  tempGuid,
  ...rest,
})

function groupEvent(row: MessageRow): string | null {
  const action = row.group_action_type
  if (row.item_type === 1) return action === 1 ? 'participant-removed' : 'participant-added'
  if (row.item_type === 2) return 'group-name-change'
  if (row.item_type !== 3) return null
  return action === 1 ? 'group-icon-changed' : action === 2 ? 'group-icon-removed' : 'participant-left'
}
