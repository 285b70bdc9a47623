import { type Command, command } from '../command.js'

/** Worlds for tests that run at the same time. */
export const WORLD_COMMANDS: readonly Command[] = [
  command({
    name: 'worlds',
    summary: 'List the worlds of the account; with an admin key, all worlds',
    examples: [''],
    request: 'GET /sim/worlds',
    columns: 'id name created_at',
  }),
  command({
    name: 'worlds create',
    summary: 'Create a world with its own keys, whose secrets are shown once',
    options: { name: 'name in the list' },
    examples: ['--name "worker 1"', '--json'],
    request: 'POST /sim/worlds',
  }),
  command({
    name: 'worlds remove',
    summary: 'Remove a world with everything in it',
    positional: 'id',
    examples: ['<id>'],
    request: 'DELETE /sim/worlds/:id',
    record: (_answer, { positionals }) => ({ id: positionals[0], removed: true }),
  }),
]
