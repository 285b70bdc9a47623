import { importModule } from '../../base/import.js'
import { createFairTurns } from '../../base/turns.js'
import { AppError } from '../../core/errors.js'
import { type ImageType, imageType } from '../../core/media/file-kind.js'
import { imageSize } from '../../core/media/image-size.js'
import { largestOf, type MediaLimits } from '../../core/media/limits.js'

/** The part of sharp that is used. Its own types are there only if the optional package is installed. */
export interface SharpModule {
  (input: Buffer, options: { limitInputPixels: number; sequentialRead: boolean; animated?: boolean }): Picture
  concurrency(threads: number): unknown
  cache(isOn: boolean): unknown
}

interface Picture {
  metadata(): Promise<{ width: number; pages?: number }>
  timeout(limit: { seconds: number }): Picture
  autoOrient(): Picture
  resize(box: { width: number; height: number; fit: 'inside'; withoutEnlargement: boolean }): Picture
  flatten(options: { background: string }): Picture
  jpeg(options: { quality: number }): Picture
  gif(options: { effort: number; dither: number }): Picture
  toBuffer(): Promise<Buffer>
}

/** Makes images smaller. Throws an AppError without the field's name if an image cannot be made small enough. */
export type Shrink = (accountId: string, image: Buffer, limits: MediaLimits) => Promise<Buffer>

/** Larger files are not read into memory. */
export const MAX_SHRINK_BYTES = 20_000_000
/** A small file may decode to an enormous picture; a photo of a phone has up to 50 million pixels. */
const MAX_PIXELS = 60_000_000
/** Time limit for all steps together. */
const TOTAL_MS = 30_000
/** An animation with fewer pixels shows nothing. */
const LEAST_SIDE = 64
/** Part of a carrier's limit that is left for the text of the message. */
const ROOM = 0.95

/** Longest side in pixels and quality of each try. */
const STILL = [
  [2048, 82],
  [1600, 80],
  [1280, 75],
  [1024, 70],
  [800, 65],
  [640, 60],
  [480, 50],
] as const

/** The import of sharp, which is an optional dependency. */
export const loadSharp = async (): Promise<SharpModule> =>
  (await importModule<{ default: SharpModule }>('sharp')).default

export function createShrink(load: () => Promise<SharpModule>): Shrink {
  let loading: Promise<SharpModule | undefined> | undefined
  // One image at a time: each takes a core and a lot of memory.
  const inTurn = createFairTurns(1)

  const library = () => {
    loading ??= load().then(
      (sharp) => {
        sharp.concurrency(1)
        sharp.cache(false)
        return sharp
      },
      () => undefined,
    )
    return loading
  }

  return async (accountId, image, limits) => {
    const sharp = await library()
    if (!sharp)
      throw new AppError(
        'invalid',
        'cannot be made smaller here, because the package sharp is not installed. Install it beside Trunkline (npm install sharp) or send a smaller file.',
      )
    checkPixels(image)
    return inTurn(accountId, () => tryAll(sharp, image, limits))
  }
}

/** Reads the size in the header, before anything is decoded. */
function checkPixels(image: Buffer): void {
  const size = imageSize(image, imageType(image) as ImageType)
  if (!size) throw damaged()
  if (size.width * size.height > MAX_PIXELS) throw tooManyPixels(`${size.width} x ${size.height}`)
}

async function tryAll(sharp: SharpModule, image: Buffer, limits: MediaLimits): Promise<Buffer> {
  const options = { limitInputPixels: MAX_PIXELS, sequentialRead: true }
  const until = Date.now() + TOTAL_MS
  try {
    const { width, pages = 1 } = await sharp(image, options).metadata()
    const isMoving = pages > 1 && largestOf(limits, 'image/gif') > 0
    const room = largestOf(limits, isMoving ? 'image/gif' : 'image/jpeg') * ROOM
    const steps = isMoving ? movingSteps(width, image.length, room) : STILL
    for (const [side, quality] of steps) {
      const box = { width: side, height: side, fit: 'inside', withoutEnlargement: true } as const
      const seconds = Math.ceil((until - Date.now()) / 1000)
      if (seconds <= 0) throw new Error('timeout')
      const work = sharp(image, { ...options, animated: isMoving }).timeout({ seconds })
      const made = isMoving
        ? work.resize(box).gif({ effort: 1, dither: 0 })
        : work.autoOrient().resize(box).flatten({ background: 'white' }).jpeg({ quality })
      const small = await made.toBuffer()
      if (small.length <= room) return small
    }
  } catch (error) {
    throw faultOf(String(error))
  }
  throw new AppError('invalid', 'cannot be made small enough. Send a smaller file.')
}

/** An animation takes seconds for each step, so the first one is estimated. */
function movingSteps(side: number, bytes: number, room: number): (readonly [number, number])[] {
  const first = side * Math.sqrt(room / bytes) * 0.9
  return [first, first / 2].filter((one) => one >= LEAST_SIDE).map((one) => [Math.floor(one), 0] as const)
}

function faultOf(words: string): AppError {
  if (/pixel limit/i.test(words)) return tooManyPixels('all its frames together')
  return /timeout/i.test(words)
    ? new AppError('invalid', 'takes too long to make smaller. Send a smaller file.')
    : damaged()
}

function tooManyPixels(size: string): AppError {
  const most = MAX_PIXELS / 1_000_000
  return new AppError(
    'invalid',
    `has too many pixels to make it smaller (${size}; at most ${most} million). Send a smaller picture.`,
  )
}

function damaged(): AppError {
  return new AppError('invalid', 'is damaged or of a kind that cannot be made smaller. Send it as JPEG.')
}
