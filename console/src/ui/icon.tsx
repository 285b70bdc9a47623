/** SVG paths of icons with 16 by 16 units. */
const PATHS = {
  phones: 'M4.5 1.5h7a1 1 0 0 1 1 1v11a1 1 0 0 1-1 1h-7a1 1 0 0 1-1-1v-11a1 1 0 0 1 1-1zM7 12.5h2',
  messages: 'M2 3.5a1 1 0 0 1 1-1h10a1 1 0 0 1 1 1v7a1 1 0 0 1-1 1H6.5L3.5 14v-2.5H3a1 1 0 0 1-1-1z',
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.5 10.5 14 14',
  webhooks: 'M8 2.5a3 3 0 0 0-1.5 5.6L4 12.5M8 5.5l2.5 4.5a3 3 0 1 1-1.2 4M4 12.5a2 2 0 1 0 0 .1h5.5',
  contacts: 'M8 8.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2.5 14c.5-2.8 2.7-4 5.5-4s5 1.2 5.5 4',
  lines:
    'M8 10.5v3.5M5.2 5.2a4 4 0 0 0 0 5.6M10.8 5.2a4 4 0 0 1 0 5.6M3 3a7 7 0 0 0 0 10M13 3a7 7 0 0 1 0 10M8 9a1 1 0 1 0 0-2 1 1 0 0 0 0 2z',
  requests: 'M2.5 5.5h10M9.5 2.5l3 3-3 3M13.5 10.5h-10M6.5 7.5l-3 3 3 3',
  key: 'M14 5.5a3.5 3.5 0 1 1-7 0 3.5 3.5 0 0 1 7 0zM8 8l-5.5 5.5M4.5 11.5 6 13M6.5 9.5 8 11',
  events: 'M1.5 8h3l2-5 3 10 2-5h3',
  calls:
    'M3 2.5h2.5l1 3-1.5 1a8 8 0 0 0 4.5 4.5l1-1.5 3 1V13a1 1 0 0 1-1 1A10.5 10.5 0 0 1 2 3.5a1 1 0 0 1 1-1z',
  overview: 'M2.5 13.5V9M6.2 13.5V5M9.9 13.5V7.5M13.5 13.5v-11',
  plus: 'M8 3v10M3 8h10',
  close: 'M4 4l8 8M12 4l-8 8',
  check: 'M3 8.5 6.5 12 13 4.5',
  copy: 'M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z',
  send: 'M8 13V3.5M4 7.5l4-4 4 4',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  sun: 'M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1',
  moon: 'M13.5 9.5A6 6 0 0 1 6.5 2.5a6 6 0 1 0 7 7z',
  system: 'M2 3h12v8H2zM6 14h4M8 11v3',
  out: 'M6.5 2.5h-4v11h4M6.5 8h7M10.5 5l3 3-3 3',
  keyboard: 'M1.5 4h13v8.5h-13zM4 6.5h.01M6.5 6.5h.01M9 6.5h.01M11.5 6.5h.01M5 9.8h6',
  clock: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 5v3.2l2 1.3',
  forward: 'M3 4l5 4-5 4zM9 4l5 4-5 4z',
  warning: 'M8 2 14.5 13.5h-13zM8 6.5v3M8 11.5h.01',
  reply: 'M6.5 3.5 2.5 7.5l4 4M2.5 7.5H9a4.5 4.5 0 0 1 4.5 4.5v1',
  smile: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM6 6.5h.01M10 6.5h.01M5.5 9.5a3 3 0 0 0 5 0',
  clip: 'M13 7.5 7.8 12.7a3 3 0 0 1-4.3-4.3l5.7-5.6a2 2 0 0 1 2.9 2.9L6.6 11.2a1 1 0 0 1-1.4-1.4L10 5',
  settings:
    'M2 4.5h6M11 4.5h3M2 11.5h3M8 11.5h6M9.5 6a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3zM6.5 13a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3z',
  pin: 'M8 14s4.5-4.2 4.5-7.5a4.5 4.5 0 0 0-9 0C3.5 9.8 8 14 8 14zM8 8a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3z',
  users:
    'M6 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.5 13.5c.3-2.4 2-3.5 4.5-3.5s4.2 1.1 4.5 3.5M10.5 3.3a2.3 2.3 0 0 1 0 4.4M12 10.3c1.5.4 2.3 1.5 2.5 3.2',
  back: 'M10 3 5 8l5 5',
  next: 'M6 3l5 5-5 5',
  hangup: 'M1.5 9.5c3.5-4 9.5-4 13 0l-1.5 2-3-1V8.5a8 8 0 0 0-4 0v2l-3 1z',
  stop: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM3.8 3.8l8.4 8.4',
  sparkles:
    'M7 2.5 8.3 6 12 7.5 8.3 9 7 12.5 5.7 9 2 7.5 5.7 6zM12.5 10.5l.6 1.5 1.4.6-1.4.6-.6 1.4-.6-1.4-1.4-.6 1.4-.6z',
  file: 'M4 1.5h5.5L13 5v9.5H4zM9.5 1.5V5H13',
  replay: 'M3 8a5 5 0 1 1 1.5 3.5M3 12.5v-3h3',
  external: 'M9.5 2.5h4v4M13.5 2.5 7.5 8.5M11.5 9.5v4h-9v-9h4',
  trash: 'M2.5 4.5h11M6 4.5v-2h4v2M4 4.5l.6 9h6.8l.6-9M6.7 7v4M9.3 7v4',
  edit: 'M10.5 3 13 5.5 5.5 13H3v-2.5z',
  filter: 'M2 3.5h12L9.5 8.5v4l-3 1.5V8.5z',
} as const

export type IconName = keyof typeof PATHS

/** Hidden from screen readers: a word or a label beside the icon says what it means. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}
