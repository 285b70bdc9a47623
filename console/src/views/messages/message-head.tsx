import { api, encode } from '../../api/client'
import { useAction } from '../../api/queries'
import type { Message } from '../../api/types'
import { Link } from '../../router'
import { Badge, ServiceBadge, StatusBadge } from '../../ui/badge'
import { Button } from '../../ui/button'
import { Card, Fact } from '../../ui/card'
import { CopyButton, curl } from '../../ui/code'
import { Icon } from '../../ui/icon'
import { exactTime, Time } from '../../ui/time'
import { WebLink } from '../../ui/url'

export function MessageHead({ message }: { message: Message }) {
  const conversation = message.group_id || message.number
  const isScheduled = message.send_at !== undefined && message.status === 'REGISTERED'
  const cancel = useAction(() => api.delete(`/v3/scheduled-messages/${encode(message.message_handle)}`), {
    stale: ['messages', 'conversations'],
    done: 'Send canceled',
  })
  return (
    <Card>
      <div className="stack">
        <Link
          className="back"
          to={`/conversations/${encode(conversation)}?line=${encode(message.sendblue_number)}`}
        >
          <Icon name="back" />
          Conversation
        </Link>
        <div className="row wrap">
          <StatusBadge status={message.status} />
          <ServiceBadge service={message.service} />
          {message.was_downgraded && <Badge tone="warn">Sent as Text Message</Badge>}
          {message.send_style && <Badge>{message.send_style}</Badge>}
          <span className="grow" />
          <CopyButton text={curlOf(message)} label="Copy as curl" />
          {isScheduled && (
            <Button icon="stop" size="small" disabled={cancel.isPending} onClick={() => cancel.mutate()}>
              Cancel send
            </Button>
          )}
        </div>
        <p className="message-text">{message.content || <span className="faint">No text</span>}</p>
        {message.media_url && (
          <WebLink url={message.media_url} className="small">
            {message.media_url}
          </WebLink>
        )}
        <dl className="facts">
          <Fact name="From">{message.from_number}</Fact>
          <Fact name="To">{message.group_display_name || message.to_number}</Fact>
          <Fact name={message.is_outbound ? 'Accepted' : 'Received'}>
            <Time at={message.date_created} />
          </Fact>
          {message.send_at && <Fact name="Scheduled for">{exactTime(message.send_at)}</Fact>}
          <Fact name="Last change">
            <Time at={message.date_updated} />
          </Fact>
          <Fact name="Handle" wide>
            <span className="row">
              <span className="mono">{message.message_handle}</span>
              <CopyButton text={message.message_handle} />
            </span>
          </Fact>
        </dl>
      </div>
    </Card>
  )
}

/** The request that sends the message again. For inbound and group messages, the one that reads it. */
function curlOf(message: Message): string {
  if (!message.is_outbound || message.group_id) return curl('GET', `/v3/messages/${message.message_handle}`)
  return curl('POST', '/api/send-message', {
    from_number: message.from_number,
    number: message.number,
    content: message.content,
    ...(message.media_url ? { media_url: message.media_url } : {}),
    ...(message.send_style ? { send_style: message.send_style } : {}),
  })
}
