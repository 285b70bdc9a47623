/** The servers that share this API, and their differences. */
export type ProfileName = 'electron-1.9.9' | 'electron-dev' | 'swift' | 'imessage-rs'

export interface Profile {
  name: ProfileName
  version: string
  /** Accepts the password in a header as well. */
  headerAuth: boolean
  v2: boolean
  /** Effect of registering a URL again; none: webhooks cannot be registered. */
  webhooks: 'keep' | 'upsert' | 'none'
  /** DELETE typing starts typing again. */
  typingStopStarts: boolean
  /** Downloads have Content-Length and Content-Disposition. */
  fileHeaders: boolean
  chunkedUpload: boolean
  textFormatting: boolean
  emojiTapback: boolean
  schedule: boolean
  /** Find My also works on macOS 14 and later. */
  findMyOn14: boolean
  callStatusEvent: string
  /** Webhooks follow redirects. */
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

/** State of this Mac; tests change it at any time. */
export interface Flags {
  osVersion: string
  privateApi: boolean
  helperConnected: boolean
  /** Counts as a connected helper, but cannot handle messages. */
  faceTimeHelper: boolean
  smsForwarding: boolean
  /** Apple signed the number out: nothing is sent, although everything looks fine. */
  deregistered: boolean
  /** Prefix of chat ids: the service, or `any` as on macOS 26. */
  chatPrefix: 'iMessage' | 'any'
  /** Error of the Mac's clock. */
  skewMs: number
  /** Features of API v2 that are off by default. */
  findMy: boolean
  appCards: boolean
  /** Serves HEIC files as JPEG. */
  convertsHeic: boolean
  /** AppleScript times out on the first try, and both tries are sent. */
  appleScriptSendsTwice: boolean
  /** Delay until a row is linked to its chat, or to its attachments. */
  lateChatMs: number
  lateAttachmentMs: number
  /** Group events include the members. The server's sources leave this open, so clients must not rely on it. */
  membersInEvents: boolean
  /** The helper accepts group changes without effect. */
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

/** The server's waits in milliseconds, as documented; tests may shorten them. */
export interface Waits {
  /** For the helper's answer. */
  helper: number
  /** For the row of a sent message. */
  row: number
  /** For a group change, an edited message or the first message of a chat. */
  change: number
  /** For an attachment that must be downloaded first. */
  forced: number
  /** Between two actions of the helper. */
  gap: number
  /** Between the helper's action and its report, which names the chat's last message at that time. */
  report: number
  /** Until a message is sent to Apple, and delivered from there. */
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
