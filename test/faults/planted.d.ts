import type { Planted } from '../simulation/planted.js'

export const PLANTED_BETWEEN: readonly (Planted & { test: { file: string; title: string } })[]
