/** The servers that speak this wire, and where they differ. */
export type ProfileName = 'electron-1.9.9' | 'electron-dev' | 'swift' | 'imessage-rs'

export interface Profile {
  name: ProfileName
  version: string
  /** Takes the password in a header, too. */
  headerAuth: boolean
  v2: boolean
  /** What registering a URL again does; none: there is no registration at all. */
  webhooks: 'keep' | 'upsert' | 'none'
  /** DELETE typing starts to type once more. */
  typingStopStarts: boolean
  /** Files come with Content-Length and Content-Disposition. */
  fileHeaders: boolean
  chunkedUpload: boolean
  textFormatting: boolean
  emojiTapback: boolean
  schedule: boolean
  /** Places of friends come on macOS 14 and later, too. */
  findMyOn14: boolean
  callStatusEvent: string
  /** A webhook that is answered with a redirect is sent on. */
  followsRedirects: boolean
}

const ELECTRON: Profile = {
  name: 'electron-1.9.9',
  version: '1.9.9',
  headerAuth: false,
  v2: false,
  webhooks: 'keep',
  typingStopStarts: true,
  fileHeaders: false,
  chunkedUpload: false,
  textFormatting: false,
  emojiTapback: false,
  schedule: true,
  findMyOn14: false,
  callStatusEvent: 'ft-call-status-changed',
  followsRedirects: true,
}

export const PROFILES: Record<ProfileName, Profile> = {
  'electron-1.9.9': ELECTRON,
  'electron-dev': {
    ...ELECTRON,
    name: 'electron-dev',
    typingStopStarts: false,
    fileHeaders: true,
    chunkedUpload: true,
    textFormatting: true,
  },
  swift: {
    ...ELECTRON,
    name: 'swift',
    version: '2.0.0',
    headerAuth: true,
    v2: true,
    webhooks: 'upsert',
    typingStopStarts: false,
    fileHeaders: true,
    textFormatting: true,
    emojiTapback: true,
    findMyOn14: true,
    followsRedirects: false,
  },
  'imessage-rs': {
    ...ELECTRON,
    name: 'imessage-rs',
    version: '0.1.0',
    webhooks: 'none',
    typingStopStarts: false,
    schedule: false,
    findMyOn14: true,
    callStatusEvent: 'facetime-call-status-changed',
  },
}

/** How this Mac is set up. Tests change it as they go. */
export interface Flags {
  osVersion: string
  privateApi: boolean
  helperConnected: boolean
  /** Counts as a connected helper, and can do nothing with messages. */
  faceTimeHelper: boolean
  smsForwarding: boolean
  /** Apple has signed the number out: nothing leaves any more, and everything looks well. */
  deregistered: boolean
  /** How chats are named: by their service, or `any` as on macOS 26. */
  chatPrefix: 'iMessage' | 'any'
  /** How far the Mac's time is off. */
  skewMs: number
  /** Features of the second API that are off by default. */
  findMy: boolean
  appCards: boolean
  /** HEIC is handed out as JPEG. */
  convertsHeic: boolean
  /** AppleScript times out at the first try, and both tries go out. */
  appleScriptSendsTwice: boolean
  /** A row is in the database before it is linked to its chat, or to its attachments. */
  lateChatMs: number
  lateAttachmentMs: number
  /** Events on groups name their members. The sources leave open whether they do; nobody may rely on it. */
  membersInEvents: boolean
  /** The helper takes changes of groups, and nothing comes of them. */
  groupsStuck: boolean
}

export const FLAGS: Flags = {
  osVersion: '14.5',
  privateApi: true,
  helperConnected: true,
  faceTimeHelper: false,
  smsForwarding: true,
  deregistered: false,
  chatPrefix: 'iMessage',
  skewMs: 0,
  findMy: false,
  appCards: true,
  convertsHeic: true,
  appleScriptSendsTwice: false,
  lateChatMs: 0,
  lateAttachmentMs: 0,
  membersInEvents: false,
  groupsStuck: false,
}

/** How long the server waits for what. As documented, unless a test has no time for that. */
export interface Waits {
  /** For the helper's answer. */
  helper: number
  /** For the row of a sent message. */
  row: number
  /** For a changed group, an edited message, the first message of a chat. */
  change: number
  /** For an attachment that must be fetched first. */
  forced: number
  /** Between two actions of the helper. */
  gap: number
  /** Between the helper's action and its word on it: then it names the last message of the chat. */
  report: number
  /** A message's way to Apple, and from there to the person. */
  sent: number
  delivered: number
}

export const WAITS: Waits = {
  helper: 120_000,
  row: 60_000,
  change: 30_000,
  forced: 600_000,
  gap: 0,
  report: 0,
  sent: 2,
  delivered: 4,
}
