import { trimEnd } from '../trim-end.js'

/** Extracts one-time codes and links from a message. */

const WORDS =
  /code|c[oó]digo|codice|kode?n?\b|код|otp|\bpin\b|passwor[dt]|passwort|contrase[nñ]a|token|verif|2fa|authenti|one[- ]time|einmal|验证码|驗證碼|コード|인증/giu

/** 4 to 8 digits, whole or in two halves. */
const CANDIDATE = /(?<!\d)(?:\d{4,8}|\d{3}[- ]\d{3}|\d{4}[- ]\d{4}|\d{2} \d{2} \d{2})(?!\d)/g

/** Capital letters and digits, both, whole or in two halves. Small letters count only right after "code is". */
const MIXED =
  /(?<![\p{L}\d#@-])(?=[A-Z-]{0,8}\d)(?=[\d-]{0,8}[A-Z])(?:[A-Z\d]{4,10}|[A-Z\d]{3,4}-[A-Z\d]{3,4})(?![\p{L}\d-])/gu
const SMALL =
  /(?<=\b(?:code|otp|pin|password|token)(?: is|:| is:)? )(?=[a-z]{0,9}\d)(?=\d{0,9}[a-z])[a-z\d]{5,10}(?![\p{L}\d-])/giu
/** Words before something that is a code, but not a one-time one. */
const BARGAIN = /\b(?:discount|promo\w*|coupon|voucher|gift|referral|invite)(?: code)?(?: is)?:? $/i

const URLS = /https?:\/\/\S+/gi
/** Nine or more digits in groups, like telephone numbers. */
const GROUPS = /\+?\(?\d{1,5}\)?(?:(?:[ .-]|\) ?| ?\()?\d{2,5}\)?)+/g
const DATES = /\b(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})\b/g

/** Texts before digits that are not a code. */
const NOT_AFTER: readonly RegExp[] = [
  /[$€£¥₹]\s?$/,
  /\b(?:USD|EUR|GBP|CHF|CAD|AUD|INR|Rs\.?)\s?$/i,
  /(?:\d[.,:/-]|\+)$/,
  /(?:\*|\bx{2,40}|…|\.\.)\s?-?$/i,
  /\b(?:ending|ends)(?: in| with)?:? $/i,
  /\b(?:order|invoice|ticket|tracking|booking|reservation|flight|room|account|acct|case|card|reference|ref|zip|apt|suite|ext|version|build|bus|gate|street)\b\.?(?: (?:no\.?|number|id))?(?: is)?[:#]?\s*#?$/i,
  /\b(?:call|dial|tel|phone)\b[.:]? ?$/i,
  /\b(?:reply|text|txt|send|call)\b(?: \S+){0,3} (?:to|at|on) $/i,
]
const NOT_BEFORE: readonly RegExp[] = [
  /^(?:[.,:/]\d|-\d)/,
  /^\s?(?:%|[$€£¥₹])/,
  /^\s?(?:USD|EUR|GBP|CHF|CAD|AUD|INR|dollars?|euros?|pounds?|kr|points?|pts|miles|km|minutes?|mins?|hours?|days?|seconds?|secs?|people|items?|steps|credits?)\b/i,
  // A street address.
  /^ (?:[A-Z]\w+ )?(?:St|Street|Ave|Avenue|Rd|Road|Blvd|Lane|Ln|Drive|Dr)\b/,
]
const YEAR = /^(?:19|20)\d\d$/
const YEAR_AFTER =
  /(?:©|\(c\)|copyright|\b(?:in|of|since|until|by|year|before|after|through|q[1-4]|jan\w*|feb\w*|mar\w*|apr\w*|may|june?|july?|aug\w*|sep\w*|oct\w*|nov\w*|dec\w*)|\d(?:st|nd|rd|th)?,)\s*$/i

/**
 * The one-time code in a text: the digits nearest to a word like "code", or without any the letters and digits, without
 * a dash or space inside. Prices, dates, years, telephone and order numbers do not count.
 */
export function extractCode(text: string): string | null {
  const blank = (found: string) => '\u0000'.repeat(found.length)
  const plain = text
    .replace(URLS, blank)
    .replace(DATES, blank)
    .replace(GROUPS, (found) => (found.replace(/\D/g, '').length >= 9 ? blank(found) : found))
  const words = [...plain.matchAll(WORDS)]
  for (const candidates of [CANDIDATE, MIXED, SMALL]) {
    const code = nearest(plain, words, candidates)
    if (code !== null) return code
  }
  return null
}

/** The candidate nearest to one of the words. */
function nearest(plain: string, words: readonly RegExpExecArray[], candidates: RegExp): string | null {
  // Both are in the order of the text, so the words are passed once.
  let passed = 0
  let best: { code: string; distance: number } | undefined
  for (const { index, 0: found } of plain.matchAll(candidates)) {
    const before = plain.slice(Math.max(0, index - 40), index)
    const after = plain.slice(index + found.length, index + found.length + 30)
    if (NOT_AFTER.some((one) => one.test(before)) || NOT_BEFORE.some((one) => one.test(after))) continue
    if (YEAR.test(found) && YEAR_AFTER.test(before)) continue
    if (candidates !== CANDIDATE && BARGAIN.test(before)) continue
    const code = found.replace(/[- ]/g, '')
    while (passed < words.length && words[passed]!.index < index) passed++
    const [last, next] = [words[passed - 1], words[passed]]
    const distance = Math.min(
      last ? index - last.index - last[0].length : Number.POSITIVE_INFINITY,
      next ? next.index - index - found.length : Number.POSITIVE_INFINITY,
    )
    // A message that consists of the code alone needs no such word.
    const says = words.length > 0 || !/\p{L}/u.test(plain.slice(0, index) + plain.slice(index + found.length))
    if (says && (!best || distance < best.distance)) best = { code, distance }
  }
  return best?.code ?? null
}

/** The first link in a text, without the punctuation of the sentence around it. */
export function extractLink(text: string): string | null {
  const found = /https?:\/\/[^\s<>"'`]+/i.exec(text)?.[0]
  if (!found) return null
  const around = found.includes('(') ? '.,;:!?]}…' : '.,;:!?]}…)'
  const link = trimEnd(found, around)
  return /^https?:\/\/[^/]/i.test(link) ? link : null
}
