import { type Args, flag, UsageError } from './args.js'
import { ApiError } from './client.js'
import { agrees, isTerminal } from './lines/secrets.js'
import { note } from './output.js'

/** The option of every command that asks before it removes something. */
export const YES = { yes: flag('do it without asking') }

/** Says what will be lost and goes on only with --yes, or with a yes at the terminal. */
export async function confirm(args: Args, loss: string): Promise<void> {
  if (args.values.yes === true) return
  if (!isTerminal(args)) throw new UsageError(`${loss} To do it, add --yes`)
  note(args, loss)
  if (!(await agrees(args, 'Go on?', false))) throw new ApiError('Stopped: nothing was removed.')
}
