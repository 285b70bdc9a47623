export const PLANTED: readonly { name: string; file: string; from: string; to: string }[]
