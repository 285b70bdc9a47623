/**
 * The largest file in bytes that a carrier accepts, by type. `*` stands for every type that is not named; without it,
 * other types are refused.
 */
export type MediaLimits = Readonly<Record<string, number>>

/** The largest file of this type; 0 if the carrier does not accept the type. */
export function largestOf(limits: MediaLimits, type: string): number {
  return limits[type.split(';', 1)[0]!] ?? limits['*'] ?? 0
}

/** The code of a send that failed because of its media, before anything left. */
export const MEDIA_FAULT = 'media'

/** A size for people, never smaller than it is: 1.1 MB, 640 KB. */
export function sizeWords(bytes: number): string {
  return bytes >= 1_000_000 ? `${Math.ceil(bytes / 100_000) / 10} MB` : `${Math.ceil(bytes / 1000)} KB`
}
