import { readFileSync } from 'node:fs'

const EVERY_MS = 500

/**
 * Calls back once when the npx that started this process has ended. npx passes a signal to the shell between them, which
 * ends and leaves its own child running.
 */
export function onEndOfNpx(env: NodeJS.ProcessEnv, callback: () => void): void {
  if (env.npm_command !== 'exec') return
  const elders = readElders()
  const timer = setInterval(() => {
    if (readElders() === elders) return
    clearInterval(timer)
    callback()
  }, EVERY_MS)
  timer.unref()
}

/** The parent and, if that is a shell of npx, npx itself. Without /proc, only the parent. */
function readElders(): string {
  const { ppid } = process
  try {
    const [, name = '', above] = /\((.*)\) \S (\d+)/.exec(readFileSync(`/proc/${ppid}/stat`, 'utf8')) ?? []
    return name.startsWith('npm') ? String(ppid) : `${ppid} ${above}`
  } catch {
    return String(ppid)
  }
}
