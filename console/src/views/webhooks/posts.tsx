import type { Post, WholeDelivery } from '../../api/types'
import { Badge } from '../../ui/badge'
import { duration } from '../../ui/duration'
import { Headers, Json } from '../../ui/json'
import { exactTime } from '../../ui/time'

/** Every post of a delivery: what went out, what came back, and how long it took. */
export function Posts({ delivery }: { delivery: WholeDelivery }) {
  if (delivery.attempt_log.length === 0)
    return <p className="muted">It has not been posted yet: it is posted when it is due.</p>
  return (
    <ol className="posts">
      {delivery.attempt_log.toReversed().map((post, index) => (
        <li key={post.attempt}>
          <OnePost post={post} body={delivery.body} open={index === 0} />
        </li>
      ))}
    </ol>
  )
}

function OnePost({ post, body, open }: { post: Post; body: string; open: boolean }) {
  const isGood = post.http_status !== null && post.http_status >= 200 && post.http_status < 300
  return (
    <details open={open}>
      <summary>
        <span className="post-n">Attempt {post.attempt}</span>
        <Badge tone={isGood ? 'good' : 'bad'} dot>
          {post.http_status ?? 'No answer'}
        </Badge>
        {post.reason && !isGood && <span className="muted truncate">{post.reason}</span>}
        <span className="grow" />
        <span className="faint small nowrap">
          {exactTime(post.at)} · {duration(post.duration_ms)}
        </span>
      </summary>
      <div className="post-body">
        <h3>Request headers</h3>
        <Headers headers={post.request_headers} label="Request headers" />
        <h3>Request body</h3>
        {body ? <Json value={body} label="Request body" /> : <p className="muted">It was deleted.</p>}
        <h3>Answer</h3>
        {post.response_headers ? (
          <Headers headers={post.response_headers} label="Answer headers" />
        ) : (
          <p className="muted">{post.reason ?? 'There was no answer.'}</p>
        )}
        {post.response_body && <Json value={post.response_body} label="Answer body" />}
      </div>
    </details>
  )
}
