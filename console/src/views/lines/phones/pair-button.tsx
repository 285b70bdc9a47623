import { Button } from '../../../ui/button'
import { usePairedPhones } from './data'

/** For a line of the driver phone that has no phone. */
export function PairButton({ lineId, onPair }: { lineId: string; onPair: () => void }) {
  const phones = usePairedPhones().data?.data
  if (!phones || phones.some(({ lines }) => lines.some(({ line_id }) => line_id === lineId))) return null
  return (
    <Button size="small" icon="phones" onClick={onPair}>
      Pair a phone
    </Button>
  )
}
