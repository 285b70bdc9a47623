import { type ReactNode, useId } from 'react'
import type { Tone } from '../../ui/badge'
import { Card } from '../../ui/card'
import { clockTime, exactTime } from '../../ui/time'

export interface Series {
  name: string
  tone: Tone | 'rcs'
  values: readonly (number | null)[]
}

interface Props {
  title: string
  /** Beside the title. */
  summary: ReactNode
  note?: string
  steps: readonly string[]
  stepMs: number
  series: readonly Series[]
  kind: 'bars' | 'lines'
  format?: (value: number) => string
}

const HEIGHT = 100

/** A chart with its legend, and a table with the same numbers for screen readers. */
export function Chart(props: Props) {
  const { title, summary, note, series, steps, kind, format = String } = props
  const id = useId()
  const top = niceTop(kind === 'bars' ? stackedTop(series, steps.length) : linesTop(series))
  const isEmpty = series.every((one) => one.values.every((value) => !value))
  return (
    <Card title={title} actions={<span className="chart-summary">{summary}</span>}>
      <figure className="chart" aria-labelledby={id}>
        <figcaption id={id} className="visually-hidden">
          {title}; the table below has the numbers
        </figcaption>
        <div className="chart-plot" aria-hidden="true">
          <span className="chart-top faint">{format(top)}</span>
          {isEmpty ? (
            <span className="center chart-none faint">No data in this period</span>
          ) : (
            <svg viewBox={`0 0 ${steps.length} ${HEIGHT}`} preserveAspectRatio="none" role="presentation">
              {kind === 'bars' ? <Bars {...props} top={top} /> : <Lines {...props} top={top} />}
            </svg>
          )}
        </div>
        <Ticks steps={steps} stepMs={props.stepMs} />
      </figure>
      <ul className="legend">
        {series.map((one) => (
          <li key={one.name}>
            <span className={`swatch ${one.tone}`} aria-hidden="true" />
            {one.name}
          </li>
        ))}
        {note && <li className="faint">{note}</li>}
      </ul>
      <DataTable {...props} />
    </Card>
  )
}

function Bars({ series, steps, top, format = String }: Props & { top: number }) {
  return steps.map((at, i) => {
    let base = HEIGHT
    return (
      <g key={at}>
        <title>
          {`${exactTime(at)}: ${series.map((one) => `${one.name} ${format(one.values[i] ?? 0)}`).join(', ')}`}
        </title>
        <rect x={i} y={0} width={1} height={HEIGHT} className="hit" />
        {series.map((one) => {
          const height = ((one.values[i] ?? 0) / top) * HEIGHT
          base -= height
          return (
            <rect key={one.name} x={i + 0.14} y={base} width={0.72} height={height} className={one.tone} />
          )
        })}
      </g>
    )
  })
}

function Lines({ series, steps, top }: Props & { top: number }) {
  return series.map((one) => {
    const points = one.values.flatMap((value, i) =>
      value === null ? [] : [{ x: i + 0.5, y: HEIGHT - (value / top) * (HEIGHT - 4) - 2 }],
    )
    const isSingle = points.length === 1
    const path = points.map(({ x, y }, i) => `${i === 0 ? 'M' : 'L'}${x} ${y}`).join(' ')
    return (
      <path
        key={one.name}
        className={`line ${one.tone}`}
        d={isSingle ? `M${points[0]?.x ?? 0} ${points[0]?.y ?? 0} h${steps.length / 60}` : path}
        vectorEffect="non-scaling-stroke"
      />
    )
  })
}

function Ticks({ steps, stepMs }: { steps: readonly string[]; stepMs: number }) {
  const every = Math.ceil(steps.length / 6)
  const isDays = stepMs * steps.length > 2 * 86_400_000
  return (
    <div className="chart-ticks faint" aria-hidden="true">
      {steps.map(
        (at, i) =>
          i % every === 0 && (
            <span key={at} style={{ left: `${(100 * i) / steps.length}%` }}>
              {isDays
                ? new Date(at).toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })
                : clockTime(at)}
            </span>
          ),
      )}
    </div>
  )
}

function DataTable({ title, series, steps, format = String }: Props) {
  return (
    <details className="chart-table">
      <summary>Show as table</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <div className="table-wrap" tabIndex={0} role="region" aria-label={`${title} as a table`}>
        <table className="table">
          <thead>
            <tr>
              <th scope="col">From</th>
              {series.map((one) => (
                <th key={one.name} scope="col" className="right">
                  {one.name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {steps.map((at, i) => (
              <tr key={at}>
                <th scope="row">{exactTime(at)}</th>
                {series.map((one) => {
                  const value = one.values[i] ?? null
                  return (
                    <td key={one.name} className="right">
                      {value === null ? '–' : format(value)}
                    </td>
                  )
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  )
}

function stackedTop(series: readonly Series[], count: number): number {
  return Math.max(
    ...Array.from({ length: count }, (_, i) => series.reduce((sum, one) => sum + (one.values[i] ?? 0), 0)),
  )
}

function linesTop(series: readonly Series[]): number {
  return Math.max(...series.flatMap((one) => one.values.map((value) => value ?? 0)))
}

/** The next round number. */
function niceTop(value: number): number {
  if (value <= 4) return Math.max(1, Math.ceil(value))
  const power = 10 ** Math.floor(Math.log10(value))
  const step = [1, 2, 2.5, 5, 10].find((one) => one * power >= value) ?? 10
  return step * power
}
