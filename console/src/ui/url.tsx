import type { ReactNode } from 'react'

interface Props {
  url: string
  className?: string
  children: ReactNode
}

/** Opens another site in a new tab, without a referrer. Only http and https become links; other schemes could run code. */
export function WebLink({ url, className, children }: Props) {
  if (!/^https?:\/\//i.test(url)) return <span className={className}>{children}</span>
  return (
    <a className={className} href={url} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  )
}

/** A part of a URL with its percent escapes resolved, or unchanged if they are malformed. */
export function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
