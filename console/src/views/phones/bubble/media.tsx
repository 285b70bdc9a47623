import { useRef, useState } from 'react'
import { Icon } from '../../../ui/icon'

const KINDS: [RegExp, 'image' | 'video' | 'audio'][] = [
  [/\.(png|jpe?g|gif|webp|avif|svg)$/i, 'image'],
  [/\.(mp4|mov|m4v|webm)$/i, 'video'],
  [/\.(mp3|m4a|aac|wav|ogg|oga|caf|amr)$/i, 'audio'],
]

/** Media of this server as a path of ours; anything elsewhere is not loaded: nothing leaves the origin. */
export function ownUrl(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined
  const { hostname, host, pathname } = new URL(url)
  const isHere = host === location.host || ['127.0.0.1', 'localhost', '[::1]'].includes(hostname)
  return isHere && /^\/media\/[\w.-]+$/.test(pathname) ? pathname : undefined
}

export function Media({ urls }: { urls: readonly string[] }) {
  if (urls.length > 1) return <Carousel urls={urls} />
  return <One url={urls[0] as string} />
}

function One({ url }: { url: string }) {
  const own = ownUrl(url)
  const path = url.split(/[?#]/, 1)[0] as string
  const kind = own && KINDS.find(([pattern]) => pattern.test(path))?.[1]
  const name = decodeURIComponent(path.split('/').at(-1) || 'file')
  if (kind === 'image') return <img className="photo" src={own} alt="Attachment" loading="lazy" />
  // biome-ignore lint/a11y/useMediaCaption: what people send each other has no captions
  if (kind === 'video') return <video className="photo" src={own} controls preload="metadata" />
  // biome-ignore lint/a11y/useMediaCaption: what people send each other has no captions
  if (kind === 'audio') return <audio className="sound" src={own} controls preload="metadata" />
  return (
    <a className="file" href={own ?? url} target="_blank" rel="noreferrer noopener">
      <Icon name="file" />
      <span className="truncate">{name}</span>
      {!own && <span className="file-host">{URL.canParse(url) ? new URL(url).host : ''}</span>}
    </a>
  )
}

/** Pictures side by side, to be swiped. */
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
            <One url={url} />
          </div>
        ))}
      </div>
      <div className="carousel-foot">
        <button
          type="button"
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
