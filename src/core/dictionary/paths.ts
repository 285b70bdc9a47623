/** Where the page of errors explains a code, below the address of the server. The console imports this file. */

export const errorPath = (code: string | number): string => `/docs/errors#${code}`

export const verdictPath = (verdict: string): string => errorPath(`why-${verdict}`)
