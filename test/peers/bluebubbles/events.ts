import { columnsOf, type MessageRow } from './chat-db.js'
import { createDispatch, type Switches } from './dispatch.js'
import { messageView } from './projections.js'
import { type Mac, now } from './state.js'

const WEEK = 7 * 24 * 3_600_000
const TYPING_REPEAT_MS = 5000
/** How long a send's row may take to be known as its own. */
const AWAITED_MS = 120_000

/** What the server compares to see that a row has changed. Errors and the sending itself are not among it. */
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

/** Watches the database and tells the webhooks what is new in it. */
export function createEvents(mac: () => Mac, switches: Switches) {
  const dispatch = createDispatch(mac, switches)
  /** State of each row that was announced, by guid. Memory only. */
  let seen = new Map<string, string>()
  let typing = new Map<string, { display: boolean; at: number }>()
  /** Sends with a tempGuid that wait for their row. */
  let awaited: { tempGuid: string; text: string; since: number }[] = []
  let due = false
  let running = true

  function newest(limit: number | null): MessageRow[] {
    // Linked rows only: the server asks for messages with their chats.
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

  /** Changes of a group come under their own name, and as a message again. */
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

  /** Letters and digits are all that is compared, so equal texts may swap their names. */
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
    /** Something in the database is different. */
    changed() {
      if (due) return
      due = true
      setImmediate(poll)
    },
    emit: dispatch.emit,
    awaitTempGuid(tempGuid: string, text: string) {
      awaited.push({ tempGuid, text, since: now(mac()) })
    },
    /** A person types. Groups are not told, nor is the same twice within five seconds. */
    typing(guid: string, display: boolean) {
      if (guid.includes(';+;')) return
      const last = typing.get(guid)
      const at = now(mac())
      if (last && last.display === display && at - last.at < TYPING_REPEAT_MS) return
      typing.set(guid, { display, at })
      dispatch.emit('typing-indicator', { display, guid })
    },
    /** What the server forgot after an hour is announced as new, for a week: edited, unsent and such. All, if told so. */
    replay(all = false) {
      const rows = newest(null).filter((row) => (row.date as number) > now(mac()) - WEEK)
      for (const row of rows)
        if (all || row.date_edited || row.date_retracted || row.did_notify_recipient) announce(row)
    },
    stop() {
      running = false
    },
    /** Starts with what is there as known, without a word on it. */
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
    /** Nothing is left to be told. */
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
