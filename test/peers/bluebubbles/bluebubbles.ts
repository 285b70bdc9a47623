import { columnsOf, createChatDb, type MessageRow } from './chat-db.js'
import { leash, type PeerClock, realClock } from './clock.js'
import { SWITCHES, type Switches } from './dispatch.js'
import { createEvents } from './events.js'
import { createFaults, type Fault } from './faults.js'
import { createOutgoing } from './messages-app.js'
import { createPeople, type ReceivedMessage } from './people.js'
import { createPhone, type Phone } from './phone.js'
import { FLAGS, type Flags, PROFILES, type ProfileName, WAITS, type Waits } from './profiles.js'
import { participantsOf } from './projections.js'
import { attachmentRoutes, chunkRoutes } from './routes/attachments.js'
import { callRoutes, scheduleRoutes } from './routes/calls.js'
import { chatRoutes, openChat } from './routes/chats.js'
import { extraRoutes, type FriendLocation } from './routes/extras.js'
import { groupRoutes } from './routes/groups.js'
import { messageRoutes } from './routes/messages.js'
import { presenceRoutes } from './routes/presence.js'
import { sendRoutes } from './routes/sends.js'
import { v2Routes } from './routes/v2.js'
import { webhookRoutes } from './routes/webhooks.js'
import { createTransport, type ReceivedRequest } from './server.js'
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
  /** First ROWID of this Mac's history. */
  firstRowId?: number
}

/** A simulated Mac with a BlueBubbles server on a local port. */
export type BlueBubbles = Awaited<ReturnType<typeof createBlueBubbles>>

export async function createBlueBubbles(options: BlueBubblesOptions = {}) {
  const clock = leash(options.clock ?? realClock)
  const profile = PROFILES[options.profile ?? 'electron-1.9.9']
  const address = options.address ?? '+15550100000'
  const people = createPeople()
  const faults = createFaults()
  const heard: ReceivedRequest[] = []
  const places = new Map<string, FriendLocation>()
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

  /** Restarts on the same port, without the memory of pending work. */
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
    /** Tests change these at any time. */
    flags: mac.flags,
    waits: mac.waits,
    switches,
    account: mac.account,
    /** Requests received, oldest first. */
    heard,
    /** Events that the server emitted, including those that did not arrive. */
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
    /** Sends the events that the switch `reorder` holds back. */
    flush: mac.events.dispatch.flush,
    /** Announces old rows as new ones. */
    replay: mac.events.replay,
    stop,
    start,
    restart,
    /** Recreates the database from the rows that Messages still has; ROWIDs start again. */
    rebuild(keep: (row: MessageRow) => boolean = () => true) {
      mac.db.rebuild(keep)
      mac.events.changed()
    },
    cut: transport.cut,
    /** Resolves when all events are sent and every receiver has answered. */
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

function worldOf(mac: Mac, places: Map<string, FriendLocation>) {
  return {
    /** Every sent message, as its recipients see it. */
    sent: mac.people.sent as readonly ReceivedMessage[],
    db: mac.db,
    places,
    row: (guid: string) => mac.db.message(guid),
    /** All rows, lowest ROWID first. */
    rows: () => mac.db.all<MessageRow>(`select ${columnsOf('message')} from message order by ROWID`),
    /** The group chats in Messages. */
    groups: () =>
      mac.db
        .all<{ ROWID: number; guid: string; display_name: string }>('select * from chat where style = 43')
        .map((chat) => ({
          guid: chat.guid,
          name: chat.display_name,
          members: participantsOf(mac.db, chat.ROWID).map(({ id }) => id),
        })),
    /** A message sent from another device of the same Apple account; it appears here as sent by us. */
    sendFromOtherDevice(to: string, text: string): string {
      return createOutgoing(mac, openChat(mac, [to], 'iMessage'), { text }, {}).guid
    },
    /** Apple removes an alias. Only webhooks for all events are told. */
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
    // Before the message routes, which would take `schedule` for a guid.
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
