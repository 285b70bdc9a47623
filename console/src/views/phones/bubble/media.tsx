import { useRef, useState } from 'react'
import { Icon } from '../../../ui/icon'
import { decode, WebLink } from '../../../ui/url'

const KINDS: [RegExp, 'image' | 'video' | 'audio'][] = [
  [/\.(png|jpe?g|gif|webp|avif|svg)$/i, 'image'],
  [/\.(mp4|mov|m4v|webm)$/i, 'video'],
  [/\.(mp3|m4a|aac|wav|ogg|oga|caf|amr)$/i, 'audio'],
]

/** The path of media on this server. Media of other servers is not loaded: no request leaves the origin. */
export function ownUrl(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined
  const { hostname, host, pathname } = new URL(url)
  const isHere = host === location.host || ['127.0.0.1', 'localhost', '[::1]'].includes(hostname)
  return isHere && /^\/media\/[\w.-]+$/.test(pathname) ? pathname : undefined
}

export function Media({ urls }: { urls: readonly string[] }) {
  if (urls.length > 1) return <Carousel urls={urls} />
  return <Attachment url={urls[0] as string} />
}

function Attachment({ url }: { url: string }) {
  const own = ownUrl(url)
  const path = url.split(/[?#]/, 1)[0] as string
  const kind = own && KINDS.find(([pattern]) => pattern.test(path))?.[1]
  const name = decode(path.split('/').at(-1) || 'file')
  if (kind === 'image') return <img className="photo" src={own} alt="Attachment" loading="lazy" />
  // biome-ignore lint/a11y/useMediaCaption: messages have no captions
  if (kind === 'video') return <video className="photo" src={own} controls preload="metadata" />
  // biome-ignore lint/a11y/useMediaCaption: messages have no captions
  if (kind === 'audio') return <audio className="sound" src={own} controls preload="metadata" />
  return (
    <WebLink className="row file" url={own ? location.origin + own : url}>
      <Icon name="file" />
      <span className="truncate">{name}</span>
      {!own && <span className="file-host">{URL.canParse(url) ? new URL(url).host : ''}</span>}
    </WebLink>
  )
}

/** Images side by side; the user swipes through them. */
function Carousel({ urls }: { urls: readonly string[] }) {
  const strip = useRef<HTMLDivElement>(null)
  const [index, setIndex] = useState(0)
  const go = (to: number) => {
    const element = strip.current
    if (element) element.scrollTo({ left: to * element.clientWidth, behavior: 'smooth' })
  }
  return (
    <div className="carousel">
      <div
        className="carousel-strip"
        ref={strip}
        onScroll={({ currentTarget }) =>
          setIndex(Math.round(currentTarget.scrollLeft / currentTarget.clientWidth))
        }
      >
        {urls.map((url) => (
          <div key={url} className="carousel-page">
            <Attachment url={url} />
          </div>
        ))}
      </div>
      <div className="row carousel-foot">
        <button
          type="button"
          className="center"
          aria-label="Previous image"
          disabled={index === 0}
          onClick={() => go(index - 1)}
        >
          <Icon name="back" />
        </button>
        <span>
          {index + 1} of {urls.length}
        </span>
        <button
          type="button"
          className="center"
          aria-label="Next image"
          disabled={index >= urls.length - 1}
          onClick={() => go(index + 1)}
        >
          <Icon name="next" />
        </button>
      </div>
    </div>
  )
}
