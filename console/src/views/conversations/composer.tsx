import { type FormEvent, type KeyboardEvent, useState } from 'react'
import { api } from '../../api/client'
import { useAction } from '../../api/queries'
import { Button } from '../../ui/button'
import { TextArea } from '../../ui/field'

/** Sends messages in a conversation: Enter sends, Shift+Enter starts a new line. */
export function Composer({ line, to, isGroup }: { line: string; to: string; isGroup: boolean }) {
  const [content, setContent] = useState('')
  // The key makes a second click, or a repeat after a lost response, send the message only once.
  const [key, setKey] = useState(() => crypto.randomUUID())
  const send = useAction(
    () =>
      api.post(
        isGroup ? '/api/send-group-message' : '/api/send-message',
        { from_number: line, content, ...(isGroup ? { group_id: to } : { number: to }) },
        { headers: { 'idempotency-key': key } },
      ),
    {
      stale: ['messages', 'conversations'],
      after: () => {
        setContent('')
        setKey(crypto.randomUUID())
      },
    },
  )
  const submit = (event: FormEvent | KeyboardEvent) => {
    event.preventDefault()
    if (content.trim() && !send.isPending) send.mutate()
  }
  const change = (text: string) => {
    setContent(text)
    if (send.isError) {
      send.reset()
      setKey(crypto.randomUUID())
    }
  }
  return (
    <form className="conversation-composer" onSubmit={submit}>
      <TextArea
        rows={1}
        aria-label="Message"
        placeholder={`Message from ${line}`}
        value={content}
        onChange={change}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) submit(event)
        }}
      />
      <Button
        type="submit"
        variant="primary"
        icon="send"
        aria-label="Send"
        disabled={!content.trim() || send.isPending}
      />
    </form>
  )
}
