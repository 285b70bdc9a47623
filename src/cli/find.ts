import type { Command } from './command.js'

/** The command whose name the words begin with. */
export function findCommand(commands: readonly Command[], words: readonly string[]): Command | undefined {
  return [3, 2, 1]
    .map((count) => commands.find(({ name }) => name === words.slice(0, count).join(' ')))
    .find((one) => one !== undefined)
}
