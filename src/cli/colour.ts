/** Colours at a terminal; plain text everywhere else. */
export interface Paint {
  dim(text: string): string
  red(text: string): string
  yellow(text: string): string
  green(text: string): string
}

type Env = Record<string, string | undefined>

export function paintFor(stream: { isTTY?: boolean }, env: Env): Paint {
  // https://no-color.org: any value except the empty one turns colours off.
  const isPlain = !stream.isTTY || !!env.NO_COLOR || env.TERM === 'dumb'
  const code = (open: string) => (text: string) => (isPlain ? text : `\u001b[${open}m${text}\u001b[0m`)
  return {
    dim: code('2'),
    red: code('31'),
    yellow: code('33'),
    green: code('32'),
  }
}
