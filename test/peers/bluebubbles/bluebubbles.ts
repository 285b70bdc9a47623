import { columnsOf, createChatDb, type MessageRow } from './chat-db.js'
import { leash, type PeerClock, realClock } from './clock.js'
import { SWITCHES, type Switches } from './dispatch.js'
import { createEvents } from './events.js'
import { createFaults, type Fault } from './faults.js'
import { createOutgoing } from './messages-app.js'
import { createPeople, type Received } from './people.js'
import { createPhone, type Phone } from './phone.js'
import { FLAGS, type Flags, PROFILES, type ProfileName, WAITS, type Waits } from './profiles.js'
import { participantsOf } from './projections.js'
import { attachmentRoutes, chunkRoutes } from './routes/attachments.js'
import { callRoutes, scheduleRoutes } from './routes/calls.js'
import { chatRoutes, openChat } from './routes/chats.js'
import { extraRoutes, type Place } from './routes/extras.js'
import { groupRoutes } from './routes/groups.js'
import { messageRoutes } from './routes/messages.js'
import { presenceRoutes } from './routes/presence.js'
import { sendRoutes } from './routes/sends.js'
import { v2Routes } from './routes/v2.js'
import { webhookRoutes } from './routes/webhooks.js'
import { createTransport, type Heard } from './server.js'
import { type Mac, newMemory, osMajor, type Route } from './state.js'

export interface BlueBubblesOptions extends Partial<Flags> {
  profile?: ProfileName
  password?: string
  port?: number
  /** Number or e-mail address of the Mac's Messages. */
  address?: string
  clock?: PeerClock
  /** Divides the documented waits. */
  speed?: number
  waits?: Partial<Waits>
  switches?: Partial<Switches>
  /** Where the ROWIDs of this Mac's history begin. */
  firstRowId?: number
}

/** A Mac that runs a BlueBubbles server, on a port of this machine. */
export type BlueBubbles = Awaited<ReturnType<typeof createBlueBubbles>>

export async function createBlueBubbles(options: BlueBubblesOptions = {}) {
  const clock = leash(options.clock ?? realClock)
  const profile = PROFILES[options.profile ?? 'electron-1.9.9']
  const address = options.address ?? '+15550100000'
  const people = createPeople()
  const faults = createFaults()
  const heard: Heard[] = []
  const places = new Map<string, Place>()
  const phones = new Map<string, Phone>()
  const switches: Switches = { ...SWITCHES, ...options.switches }
  const mac: Mac = {
    profile,
    flags: { ...FLAGS, ...pick(options as Partial<Flags>, Object.keys(FLAGS) as (keyof Flags)[]) },
    waits: waitsOf(options),
    clock,
    password: options.password ?? 'secret',
    address,
    db: createChatDb(options.firstRowId ?? 5000),
    people,
    events: createEvents(() => mac, switches),
    lastSent: new Map(),
    memory: newMemory(),
    places: () => [...places.values()],
    sharePlace(place) {
      places.set(place.handle, place)
      if (!profile.findMyOn14 && osMajor(mac) >= 14) return
      const { accuracy, altitude, ...shown } = place
      mac.memory.places.set(place.handle, place)
      mac.events.emit('new-findmy-location', shown)
    },
    unsharePlace(handle) {
      places.delete(handle)
      mac.memory.places.delete(handle)
    },
    schedule: [],
    account: {
      appleId: 'line@example.com',
      aliases: [address, 'line@example.com'],
      activeAlias: address,
      card: { name: 'Line', avatar: null },
    },
    restart,
  }
  const transport = createTransport(mac, routesOf(mac), faults, heard)
  const port = await transport.listen(options.port ?? 0)
  mac.events.start()

  async function stop() {
    mac.events.stop()
    await transport.stop()
  }

  /** Comes back on the same port, knowing nothing of what it was about to do. */
  async function start() {
    mac.memory = newMemory()
    await transport.listen(port)
    mac.events.start()
  }

  async function restart() {
    await stop()
    await start()
  }

  return {
    url: `http://127.0.0.1:${port}`,
    port,
    password: mac.password,
    /** To be changed as the test goes. */
    flags: mac.flags,
    waits: mac.waits,
    switches,
    account: mac.account,
    /** Requests that came, oldest first. */
    heard,
    /** Events that the server emitted, whether or not they arrived. */
    emitted: mac.events.dispatch.log,
    webhooks: mac.events.dispatch.hooks,
    world: worldOf(mac, places),
    phone(number: string): Phone {
      let phone = phones.get(number)
      if (!phone) {
        phone = createPhone(mac, people.of(number))
        phones.set(number, phone)
      }
      return phone
    },
    fault: (fault: Fault) => faults.add(fault),
    clearFaults: faults.clear,
    /** Sends what the switch `reorder` holds back. */
    flush: mac.events.dispatch.flush,
    /** Announces old rows as new ones. */
    replay: mac.events.replay,
    stop,
    start,
    restart,
    /** The database is made anew from what Messages still has: ROWIDs start again. */
    rebuild(keep: (row: MessageRow) => boolean = () => true) {
      mac.db.rebuild(keep)
      mac.events.changed()
    },
    cut: transport.cut,
    /** Until everything seen was told, and every receiver has answered. */
    async settle() {
      while (!mac.events.settled()) await new Promise((resolve) => setImmediate(resolve))
    },
    async close() {
      mac.events.stop()
      clock.drop()
      mac.events.dispatch.abandon()
      await transport.stop()
    },
  }
}

function worldOf(mac: Mac, places: Map<string, Place>) {
  return {
    /** Every message that left, as whoever got it sees it. */
    sent: mac.people.sent as readonly Received[],
    db: mac.db,
    places,
    row: (guid: string) => mac.db.message(guid),
    /** Every row there is, oldest ROWID first. */
    rows: () => mac.db.all<MessageRow>(`select ${columnsOf('message')} from message order by ROWID`),
    /** Group chats as Messages has them. */
    groups: () =>
      mac.db
        .all<{ ROWID: number; guid: string; display_name: string }>('select * from chat where style = 43')
        .map((chat) => ({
          guid: chat.guid,
          name: chat.display_name,
          members: participantsOf(mac.db, chat.ROWID).map(({ id }) => id),
        })),
    /** What another Apple device of ours sends: it shows up here as ours. */
    sendFromOtherDevice(to: string, text: string): string {
      return createOutgoing(mac, openChat(mac, [to], 'iMessage'), { text }, {}).guid
    },
    /** Apple takes an alias away. Told to whoever takes every event. */
    removeAlias(alias: string) {
      mac.account.aliases.splice(
        0,
        mac.account.aliases.length,
        ...mac.account.aliases.filter((one) => one !== alias),
      )
      mac.events.emit('imessage-aliases-removed', { aliases: [alias] })
    },
  }
}

function routesOf(mac: Mac): Route[] {
  const { profile } = mac
  return [
    // Before the messages: `schedule` is no guid.
    ...(profile.schedule ? scheduleRoutes : []),
    ...presenceRoutes,
    ...messageRoutes,
    ...sendRoutes,
    ...(profile.chunkedUpload ? chunkRoutes : []),
    ...chatRoutes,
    ...groupRoutes,
    ...attachmentRoutes,
    ...callRoutes,
    ...extraRoutes,
    ...(profile.webhooks === 'none' ? [] : webhookRoutes),
    ...(profile.v2 ? v2Routes : []),
  ]
}

function waitsOf({ speed = 1, waits }: BlueBubblesOptions): Waits {
  const scaled = Object.entries(WAITS).map(([name, ms]) => [name, Math.ceil(ms / speed)])
  return { ...(Object.fromEntries(scaled) as unknown as Waits), ...waits }
}

function pick<T extends object, K extends keyof T>(from: T, keys: readonly K[]): Pick<T, K> {
  return Object.fromEntries(
    keys.filter((key) => from[key] !== undefined).map((key) => [key, from[key]]),
  ) as Pick<T, K>
}
