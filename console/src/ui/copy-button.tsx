import { useEffect, useState } from 'react'
import { Button } from './button'
import { notify } from './toast'

export function CopyButton({ text, label }: { text: string; label?: string }) {
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 1500)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setCopied(true)
    } catch {
      notify('The browser did not let the page copy. Select the text and copy it yourself.', 'bad')
    }
  }
  return (
    <Button
      variant="ghost"
      size="small"
      icon={copied ? 'check' : 'copy'}
      aria-label={label ? undefined : copied ? 'Copied' : 'Copy'}
      onClick={copy}
    >
      {label && (copied ? 'Copied' : label)}
    </Button>
  )
}
