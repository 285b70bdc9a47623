import { Type } from 'typebox'
import { LineFault } from '../../core/lines/fault.js'
import type { Line } from '../../core/lines/line.js'
import type { LineActions, Profile, ProfileChange } from '../contract.js'

/** The simulated line's name and photo, which live in the network like everything of a carrier. */

export const PROFILE_SETTINGS = {
  profile_fault: Type.Optional(
    Type.Union([Type.Literal('refuse'), Type.Literal('unreachable')], {
      description: 'Makes changes of the profile fail: refused for good, or not reachable for now',
    }),
  ),
}

export interface ProfileNetwork {
  profile(line: Line): Promise<Profile>
  setProfile(line: Line, change: ProfileChange): Promise<Profile>
  /** Gives the line's card to a phone; answers why not, if so. */
  giveCard(line: Line, to: string): Promise<'given' | 'no_profile' | 'no_chat'>
}

interface Settings {
  fault?: string
  profile_fault?: 'refuse' | 'unreachable'
}

export function profileActions(
  network: ProfileNetwork,
  line: Line,
  config: Settings,
): Pick<LineActions, 'profile' | 'setProfile' | 'shareProfile'> {
  const reach = () => {
    if (config.fault === 'unreachable') throw new LineFault('unreachable', 'The line is unplugged')
  }
  return {
    async profile() {
      reach()
      return network.profile(line)
    },
    async setProfile(change) {
      reach()
      if (config.profile_fault === 'unreachable')
        throw new LineFault('unreachable', 'The profile server does not answer')
      if (config.profile_fault === 'refuse')
        throw new LineFault('refused', 'The carrier refuses this name or photo')
      return network.setProfile(line, change)
    },
    async shareProfile({ to }) {
      reach()
      const result = await network.giveCard(line, to)
      if (result === 'no_chat')
        throw new LineFault('no_chat', `There is no iMessage conversation with ${to} on this line yet`)
      if (result === 'no_profile') throw new LineFault('refused', 'This line has no name and photo to share')
    },
  }
}
