import { blueBubbles } from './bluebubbles/bluebubbles.js'
import type { Driver } from './contract.js'
import { smpp } from './smpp/smpp.js'

/** Built-in carriers. The simulator is not among them because it needs a world of virtual phones to be created. */
export const CARRIERS: readonly Driver[] = [smpp, blueBubbles]
export const BUILT_IN_KINDS: readonly string[] = ['simulator', ...CARRIERS.map(({ kind }) => kind)]
