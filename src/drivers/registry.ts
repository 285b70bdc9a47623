import { blueBubbles } from './bluebubbles/bluebubbles.js'
import type { Driver } from './contract.js'
import { smpp } from './smpp/smpp.js'

/** The carriers that Trunkline brings along, beside the simulator, which needs a world to live in. */
export const CARRIERS: readonly Driver[] = [smpp, blueBubbles]
export const BUILT_IN_KINDS: readonly string[] = ['simulator', ...CARRIERS.map(({ kind }) => kind)]
