import { type FormEvent, type KeyboardEvent, useState } from 'react'
import { useAct } from '../../api/act'
import { api } from '../../api/client'
import { Button } from '../../ui/button'
import { TextArea } from '../../ui/field'

/** Answers in a conversation. Enter sends; Shift and Enter begins a new line. */
export function Composer({ line, to, isGroup }: { line: string; to: string; isGroup: boolean }) {
  const [content, setContent] = useState('')
  // One try has one key: pressing twice, or a lost answer, sends once.
  const [key, setKey] = useState(() => crypto.randomUUID())
  const send = useAct(
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
  const submit = (event?: FormEvent) => {
    event?.preventDefault()
    if (content.trim() && !send.isPending) send.mutate()
  }
  const press = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    submit()
  }
  return (
    <form className="composer" onSubmit={submit}>
      <TextArea
        rows={1}
        aria-label="Message"
        placeholder={`Message as ${line}`}
        value={content}
        onChange={(event) => {
          setContent(event.target.value)
          if (send.isError) {
            send.reset()
            setKey(crypto.randomUUID())
          }
        }}
        onKeyDown={press}
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
