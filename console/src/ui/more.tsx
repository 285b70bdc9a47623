import { Button } from './button'

/** The end of a list that has more. */
export function More({
  has,
  loading,
  onMore,
  label = 'Show more',
}: {
  has: boolean
  loading: boolean
  onMore: () => void
  label?: string
}) {
  if (!has) return null
  return (
    <div className="more">
      <Button size="small" disabled={loading} onClick={onMore}>
        {loading ? 'Loading…' : label}
      </Button>
    </div>
  )
}
