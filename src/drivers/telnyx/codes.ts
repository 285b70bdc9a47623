/** Telnyx's error numbers, in words for the person who reads the message's error or the line's state. */
const WORDS: Readonly<Record<number, string>> = {
  10001: 'The number of the line is not active',
  10002: 'The recipient is not a valid phone number',
  10003: 'Telnyx does not accept an address in the message',
  10007: 'Telnyx reports an unexpected error',
  10008: 'The request took too long inside Telnyx',
  10009: 'Telnyx rejects the API key',
  10010: 'The API key lacks the permission to send',
  10011: 'Telnyx gets too many requests at once',
  10015: 'Telnyx cannot read the request',
  10016: 'The recipient is not a number in international form',
  20012: 'The Telnyx account is not active',
  20013: 'The Telnyx account is not active',
  20014: 'The Telnyx account must be verified first',
  20015: 'The Telnyx account must be verified first',
  20016: 'The Telnyx account must be verified first',
  20017: 'The Telnyx account must be verified first',
  20100: 'The Telnyx account has no funds left',
  40001: 'The number of the recipient is a landline or cannot be reached',
  40002: 'The carrier filtered the message as unwanted, for now',
  40003: 'The carrier filtered the message as unwanted and blocks the number of the line',
  40004: 'The carrier rejected the message without a reason',
  40005: 'The message expired at the carrier',
  40006: 'The carrier of the recipient is down',
  40007: 'The message went in a circle',
  40008: 'The carrier of the recipient did not take the message',
  40009: 'The carrier rejected the text of the message',
  40010: 'The number is not registered for US messages (10DLC)',
  40011: 'The carrier gets too many messages from this number; lower the pace of the line',
  40012: 'The carrier does not know the number of the recipient',
  40013: 'The carrier does not accept the number of the line',
  40014: 'The message waited too long in Telnyx and never left',
  40015: 'Telnyx filtered the message as unwanted',
  40016: 'The daily limit of the US brand at T-Mobile is used up',
  40017: 'AT&T filtered the message as unwanted',
  40018: 'The limit of the US campaign at AT&T is used up; lower the pace of the line',
  40019: 'The message has a tag that the carrier does not accept',
  40020: 'The carrier holds the number back because it was ported; it sends again within a day',
  40100: 'The number of the line is not enabled for messages',
  40150: 'The number of the line is not registered for this kind of message',
  40151: 'The number of the line is not registered for this kind of message',
  40300: 'The recipient opted out of messages from this messaging profile with STOP',
  40301: 'Telnyx has no way from this number to this recipient',
  40302: 'The message is too large',
  40304: 'The message mixes parts that cannot go together',
  40305: 'The number of the line is not valid as a sender, or belongs to another account',
  40306: 'The messaging profile has no sender for this recipient',
  40307: 'The alphanumeric sender is not valid',
  40308: 'The number of the line cannot send this kind of message to this recipient',
  40309: 'The number of the line may not send to the region of the recipient',
  40310: 'The recipient is not a valid phone number',
  40312: 'The messaging profile is disabled',
  40313: 'The number of the line has no messaging profile',
  40314: 'Messages are disabled for the Telnyx account',
  40315: 'The number of the line is not healthy enough to send',
  40316: 'The message has neither text nor file',
  40317: 'The files of the message are too many, too large or of a kind that Telnyx does not take',
  40318: 'Too many messages already wait in Telnyx for this number; lower the pace of the line',
  40319: 'The number of the line cannot send this kind of message to this recipient',
  40320: 'The sender is not yet provisioned',
  40321: 'No number of the messaging profile can send this',
  40322: 'Telnyx does not accept the content of the message',
  40328: 'The text has too many parts',
  40329: 'The toll-free number is not verified',
  40330: 'The toll-free number is not provisioned',
  40331: 'The messaging profile does not allow this country; add it to the allowed destinations',
  40333: 'The messaging profile has reached its daily spend limit',
}

/** Words for an error number; Telnyx's own, without phone numbers, for one that is not in the table. */
export function wordsOf(code: number | undefined, fault = ''): string {
  return (code !== undefined && WORDS[code]) || fault || 'Telnyx gives no reason'
}

export const OPTED_OUT = 40300
export const TOO_MANY = 10011

/** Refused before anything is queued; how long to wait, if Telnyx does not say. */
export const RETRY_MS: ReadonlyMap<number, number | undefined> = new Map([
  [TOO_MANY, undefined],
  [40318, 300_000],
])

/** Telnyx does not know itself what became of the request. */
export const UNKNOWN: ReadonlySet<number> = new Set([10007, 10008])

/** The settings of the line or the account are wrong, so every message fails like this one. */
export const OF_THE_LINE: ReadonlySet<number> = new Set([
  10001, 10010, 20012, 20013, 20014, 20015, 20016, 20017, 20100, 40003, 40010, 40013, 40100, 40150, 40151,
  40305, 40306, 40307, 40312, 40313, 40314, 40315, 40320, 40321, 40329, 40330, 40333,
])

/** Another service of the line may reach the recipient. */
export const TRY_NEXT: ReadonlySet<number> = new Set([40301, 40308, 40319])
