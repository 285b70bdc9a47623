import { type AnchorHTMLAttributes, type MouseEvent, useCallback, useSyncExternalStore } from 'react'
import { decode } from './ui/url'

/** Every path is relative to this one. */
const BASE = '/console'
const listeners = new Set<() => void>()

function current(): string {
  return location.pathname + location.search
}

function subscribe(listener: () => void) {
  listeners.add(listener)
  addEventListener('popstate', listener)
  return () => {
    listeners.delete(listener)
    removeEventListener('popstate', listener)
  }
}

export function useRoute() {
  const [pathname = '', search = ''] = useSyncExternalStore(subscribe, current).split('?')
  return { path: pathname.slice(BASE.length).replace(/\/$/, '') || '/', query: new URLSearchParams(search) }
}

export function navigate(to: string, { replace = false } = {}): void {
  const url = BASE + to
  if (url === current()) return
  if (replace) history.replaceState(null, '', url)
  else history.pushState(null, '', url)
  for (const listener of listeners) listener()
}

/** A parameter of the query string and its setter, so that a view's state has an address. */
export function useQueryParam(name: string, fallback = ''): [string, (value: string) => void] {
  const value = useRoute().query.get(name) ?? fallback
  const set = useCallback(
    (next: string) => {
      const query = new URLSearchParams(location.search)
      if (next === fallback) query.delete(name)
      else query.set(name, next)
      const text = query.toString()
      navigate(location.pathname.slice(BASE.length) + (text ? `?${text}` : ''), { replace: true })
    },
    [name, fallback],
  )
  return [value, set]
}

/** The values of `:names` in a pattern; undefined if the path does not match. */
export function matchPath(pattern: string, path: string): Record<string, string> | undefined {
  const wanted = pattern.split('/')
  const given = path.split('/')
  if (wanted.length !== given.length) return undefined
  const params: Record<string, string> = {}
  for (const [i, word] of wanted.entries()) {
    if (word.startsWith(':')) params[word.slice(1)] = decode(given[i] as string)
    else if (word !== given[i]) return undefined
  }
  return params
}

export function Link({ to, ...rest }: { to: string } & AnchorHTMLAttributes<HTMLAnchorElement>) {
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    rest.onClick?.(event)
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey)
      return
    event.preventDefault()
    navigate(to)
  }
  return <a {...rest} href={BASE + to} onClick={follow} />
}
