import { vi } from 'vitest'
import { run } from '../../src/cli/cli.js'
import type { Ran } from './server.js'

/** Runs a command inside this process: ten times as fast as a process of its own. */
export async function runCliHere(args: string[]): Promise<Ran> {
  const ran = { stdout: '', stderr: '' }
  const spies = (['stdout', 'stderr'] as const).map((stream) =>
    vi.spyOn(process[stream], 'write').mockImplementation((...given: unknown[]) => {
      ran[stream] += String(given[0])
      const written = given.find((one) => typeof one === 'function')
      if (written) queueMicrotask(() => written())
      return true
    }),
  )
  try {
    return { code: await run(args), ...ran }
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
}
