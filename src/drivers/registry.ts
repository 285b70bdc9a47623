import { blueBubbles } from './bluebubbles/bluebubbles.js'
import type { Driver } from './contract.js'
import { SIMULATOR } from './simulator/settings.js'
import { smpp } from './smpp/smpp.js'
import { pairedPhone } from './smsgate/paired/paired.js'
import { smsGate } from './smsgate/smsgate.js'
import { telnyx } from './telnyx/telnyx.js'
import { twilio } from './twilio/twilio.js'

/** Built-in carriers. The simulator is not among them because it needs a world of virtual phones to be created. */
export const CARRIERS: readonly Driver[] = [smsGate, pairedPhone, smpp, twilio, telnyx, blueBubbles]

/** Every built-in driver, the simulator included, with its settings. */
export const BUILT_IN: readonly Pick<Driver, 'kind' | 'title' | 'config'>[] = [...CARRIERS, SIMULATOR]
