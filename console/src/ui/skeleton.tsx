/** Where something will be. */
export function Skeleton({ width = '100%' }: { width?: string }) {
  return <span className="skeleton" style={{ width }} />
}

const WIDTHS = ['72%', '58%', '81%', '64%', '76%', '49%']

export function SkeletonRows({ rows = 6 }: { rows?: number }) {
  return (
    <div className="card-body stack" role="status" aria-label="Loading">
      {WIDTHS.slice(0, rows).map((width) => (
        <Skeleton key={width} width={width} />
      ))}
    </div>
  )
}
