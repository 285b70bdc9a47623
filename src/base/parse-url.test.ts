import { expect, it } from 'vitest'
import { parseUrl } from './parse-url.js'

it('reads what is a URL, and nothing else', () => {
  expect(parseUrl('https://example.com/a')?.pathname).toBe('/a')
  expect(parseUrl('../b', 'https://example.com/x/y')?.href).toBe('https://example.com/b')
  for (const text of ['', 'example.com', 'https://', 'https://[::1/']) expect(parseUrl(text)).toBeUndefined()
})

it('reads names of any script, also after many others', () => {
  for (let i = 0; i < 200_000; i++) parseUrl(`https://example.com/${i}`)
  for (const name of ['bücher', 'пример', '例え'])
    expect(parseUrl(`https://${name}.example/`)?.protocol).toBe('https:')
})
