/** Twilio's error numbers, in words for the person who reads the message's error or the line's state. */
const WORDS: Readonly<Record<number, string>> = {
  14107: 'Too many messages between these two numbers; Twilio limits them',
  20003: 'Twilio rejects the credentials, or they lack the permission',
  20005: 'The Twilio account is not active',
  20404: 'Twilio does not know this account',
  20429: 'Twilio gets too many requests at once',
  21211: 'The recipient is not a valid phone number',
  21212: 'The number of the line is not valid as a sender',
  21217: 'The recipient is not a valid phone number',
  21219: 'A trial account sends to verified numbers only',
  21408: 'The account may not send to this country; enable it in Messaging, Settings, Geo permissions',
  21601: 'The number of the line cannot send texts',
  21602: 'The message has no text',
  21603: 'The sender is missing',
  21606: 'The number of the line cannot send texts, or belongs to another account',
  21607: 'A trial account sends from its own number only',
  21608: 'A trial account sends to verified numbers only',
  21609: 'Twilio does not accept the address of this server for status callbacks; check TRUNKLINE_PUBLIC_URL',
  21610: 'The recipient opted out of messages from this number with STOP',
  21611:
    'More than four hours of messages already wait in Twilio for this number; lower the pace of the line',
  21612: 'Twilio has no way from this number to this recipient',
  21614: 'The recipient is not a mobile number',
  21616: 'The number of the line belongs to several senders or to another account',
  21617: 'The text is longer than 1600 characters',
  21619: 'The message has neither text nor file',
  21620: 'Twilio cannot use the address of the file',
  21621: 'The number of the line cannot send MMS',
  21622: 'The account cannot send MMS',
  21623: 'The message has more than ten files',
  21654: 'The content template does not exist',
  21655: 'The content template is not valid',
  21656: 'The variables of the content template are not valid',
  21666: 'The Messaging Service has no RCS sender, so the number of the line cannot stand in for it',
  21703: 'The Messaging Service has no number that can send this',
  21704: 'The Messaging Service has no number',
  21705: 'The Messaging Service does not exist in this account',
  30001: 'The message waited too long in Twilio',
  30002: 'The Twilio account is suspended',
  30003: 'The phone of the recipient is off or out of reach',
  30004: 'The recipient blocks messages, or cannot get any',
  30005: 'The number of the recipient does not exist or is no longer in use',
  30006: 'The number of the recipient is a landline or of a carrier that cannot be reached',
  30007: 'The carrier filtered the message as unwanted',
  30008: 'The carrier gives no reason',
  30011: 'The carrier of the recipient does not support MMS',
  30017: 'The network of the carrier is congested',
  30019: 'The message is too large for the carrier',
  30022: 'The rate limit of the US campaign is exceeded; lower the pace of the line',
  30023: 'The daily limit of the US brand is used up',
  30024: 'The number is not registered for US messages, or the registration does not fit',
  30027: 'The daily limit of the US campaign is used up',
  30032: 'The toll-free number is not verified',
  30033: 'The US campaign is suspended',
  30034: 'The number is not registered for US messages (A2P 10DLC)',
  30035: 'The number is still being registered for US messages',
  30410: 'The carrier did not answer in time; the message may have been delivered and is not sent again',
  30450: 'The carrier blocked the message',
  63003: 'The recipient is not on this channel',
  63007: 'The sender is not on this channel',
  63016: 'WhatsApp takes free text only within 24 hours of the last message from the person',
  63035: 'The RCS sender is not launched with the carrier of the recipient',
  63036: 'The phone of the recipient cannot be reached by RCS',
}

/** Words for an error number; Twilio's own, without phone numbers, for one that is not in the table. */
export function wordsOf(code: number | undefined, fault = ''): string {
  return (code !== undefined && WORDS[code]) || fault || 'Twilio gives no reason'
}

export const OPTED_OUT = 21610

/** Twilio documents these as not processed: 20429 as always safe to retry, the others as a full queue. */
export const RETRY_MS: Readonly<Record<number, number | undefined>> = {
  20429: undefined,
  21611: 300_000,
  14107: 60_000,
}

/** Nothing of the account works until a person changes something; the queue waits meanwhile. */
export const OF_THE_ACCOUNT: ReadonlySet<number> = new Set([20003, 20005])

/** The settings of the line are wrong, so every message fails like this one. */
export const OF_THE_LINE: ReadonlySet<number> = new Set([
  21212, 21601, 21603, 21606, 21607, 21609, 21616, 21666, 21703, 21704, 21705, 30002, 30024, 30032, 30033,
  30034, 30035,
])

/** Another service of the line may reach the recipient. */
export const TRY_NEXT: ReadonlySet<number> = new Set([21612, 21621, 21622, 63003, 63007, 63035, 63036])

/** RCS does not reach the recipient, also if Twilio says so after it accepted the message. */
export const NOT_ON_RCS: ReadonlySet<number> = new Set([63003, 63007, 63035, 63036])
