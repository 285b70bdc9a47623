export interface WorkMark {
  own: number
  stolen: number[]
}
export function markWork(): WorkMark
export function workedSince(mark: WorkMark): number
