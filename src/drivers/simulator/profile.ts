import { Type } from 'typebox'
import { LineFault } from '../../core/lines/fault.js'
import type { Line } from '../../core/lines/line.js'
import type { LineActions, Profile, ProfileChange } from '../contract.js'

/** Name and photo of a simulated line, stored in the simulated network. */

export const PROFILE_SETTINGS = {
  profile_fault: Type.Optional(
    Type.Union([Type.Literal('refuse'), Type.Literal('unreachable')], {
      description: 'Makes profile changes fail. refuse: a final refusal. unreachable: a temporary failure.',
    }),
  ),
}

export interface ProfileNetwork {
  profile(line: Line): Promise<Profile>
  setProfile(line: Line, change: ProfileChange): Promise<Profile>
  /** Shares the line's name and photo with a phone. */
  giveCard(line: Line, ask: { accountId: string; to: string }): Promise<'given' | 'no_profile' | 'no_chat'>
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
  const requireReachable = () => {
    if (config.fault === 'unreachable') throw new LineFault('unreachable', 'The line is unplugged')
  }
  return {
    async profile() {
      requireReachable()
      return network.profile(line)
    },
    async setProfile(change) {
      requireReachable()
      if (config.profile_fault === 'unreachable')
        throw new LineFault('unreachable', 'The profile server does not answer')
      if (config.profile_fault === 'refuse')
        throw new LineFault('refused', 'The carrier refuses this name or photo')
      return network.setProfile(line, change)
    },
    async shareProfile(ask) {
      requireReachable()
      const result = await network.giveCard(line, ask)
      if (result === 'no_chat')
        throw new LineFault(
          'no_chat',
          `This line has no iMessage conversation with ${ask.to} yet. Send a message first.`,
        )
      if (result === 'no_profile') throw new LineFault('refused', 'This line has no name and photo to share')
    },
  }
}
