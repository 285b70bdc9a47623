import { DICTIONARY } from '../../core/dictionary/dictionary.js'

/** The page /docs/errors: plain HTML without a script. */
export function errorDictionaryPage(): string {
  const chapters = DICTIONARY.map(
    ({ title, about, entries }) => `<h2>${escaped(title)}</h2>
<p>${escaped(about)}</p>
${entries
  .map(
    ({ code, anchor, means, why, next }) => `<section id="${anchor}">
<h3><a href="#${anchor}">${escaped(code)}</a></h3>
<p>${escaped(means)}</p>
<p><b>Why it happens.</b> ${escaped(why)}</p>
<p><b>What to do.</b> ${escaped(next)}</p>
</section>`,
  )
  .join('\n')}`,
  )
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<title>Trunkline errors</title>
<link rel="icon" href="/docs/static/favicon-32x32.png" />
<style>
:root { color-scheme: light dark; --text: #1c2022; --back: #fff; --line: #d7dbde; --link: #0b57d0; --mark: #fff6d6 }
@media (prefers-color-scheme: dark) {
  :root { --text: #e4e6e6; --back: #1c2022; --line: #3b4145; --link: #8ab4f8; --mark: #3a3420 }
}
body { margin: 0 auto; padding: 24px; max-width: 760px; font: 16px/1.5 system-ui, sans-serif; color: var(--text); background: var(--back) }
a { color: var(--link) }
h3 { margin: 0; font-family: ui-monospace, monospace }
section { padding: 16px 12px; border-top: 1px solid var(--line) }
section:target { background: var(--mark) }
p { margin: 6px 0 }
</style>
</head>
<body>
<h1>Errors and verdicts</h1>
<p>Every code that Trunkline answers with. <a href="/docs">Reference of the API</a></p>
${chapters.join('\n')}
</body>
</html>
`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
