/** Colours for people at a terminal, and for nobody else. */
export interface Paint {
  bold(text: string): string
  dim(text: string): string
  red(text: string): string
  yellow(text: string): string
  green(text: string): string
  /** White on the colour of a bubble. */
  bubble(service: string, text: string): string
}

type Env = Record<string, string | undefined>

export function paintFor(stream: { isTTY?: boolean }, env: Env = process.env): Paint {
  // https://no-color.org: set to anything but nothing.
  const isPlain = !stream.isTTY || !!env.NO_COLOR || env.TERM === 'dumb'
  const code = (open: string) => (text: string) => (isPlain ? text : `\u001b[${open}m${text}\u001b[0m`)
  const bubbles: Record<string, (text: string) => string> = {
    iMessage: code('97;44'),
    SMS: code('97;42'),
    RCS: code('97;45'),
  }
  const grey = code('30;47')
  return {
    bold: code('1'),
    dim: code('2'),
    red: code('31'),
    yellow: code('33'),
    green: code('32'),
    bubble: (service, text) => (isPlain ? text : (bubbles[service] ?? grey)(text)),
  }
}
