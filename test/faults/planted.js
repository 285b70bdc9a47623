/**
 * Small faults between processes, which a simulation of one process cannot show. `npm run planted` plants each of them
 * in a copy of the program and expects the named test to fail for this reason. `from` occurs once in the file.
 */
const HANDOVER = 'test/messages/inbound/handover.test.ts'
const SHARDS = 'test/webhooks/shards.test.ts'

export const PLANTED_BETWEEN = [
  {
    name: 'a text is stored by a process that has lost the line',
    file: 'src/services/messages/inbound/inbound.ts',
    from: 'await requireLease(sql, line, lease)\n',
    to: '\n',
    test: { file: HANDOVER, title: 'a process that lost the line stores nothing of what it still receives' },
    reason: /promise resolved .* instead of rejecting/,
  },
  {
    name: 'an acknowledgement is noted by a process that has lost the line',
    file: 'src/services/messages/inbound/inbound.ts',
    from: 'await deleteUnacknowledged(ctx.db, lease, ids)',
    to: 'await deleteUnacknowledged(ctx.db, { ...lease, epoch: lease.epoch + 1 }, ids)',
    test: {
      file: HANDOVER,
      title: 'its late acknowledgement does not make the redelivery to the new holder a new message',
    },
    reason: /expected 2 to be 1/,
  },
  {
    name: 'a line is given away before its texts under way are stored',
    file: 'src/services/messages/inbound/inbound.ts',
    from: 'while (underWay.size > 0) await Promise.allSettled(underWay)\n',
    to: '\n',
    test: {
      file: HANDOVER,
      title: 'a door that closes waits until its last message is stored, and takes no further one',
    },
    reason: /expected \+0 to be 1/,
  },
  {
    name: 'a process posts webhooks of a shard that it has lost',
    file: 'src/services/webhooks/delivery.ts',
    from: '() => isWanted() && held.isHeld()',
    to: 'isWanted',
    test: {
      file: 'test/faults/webhook-pause.test.ts',
      title: 'before the first byte: posts nothing when it wakes, because another process has the shard',
    },
    // The older status comes after the newer one.
    reason: /^\+\s+"SENT",$/,
  },
  {
    name: 'the result of a post counts in a process that has lost the shard',
    file: 'src/services/webhooks/delivery.ts',
    from: "ctx.db.engine === 'postgres' &&\n            requireShards(",
    to: "ctx.db.engine !== 'postgres' &&\n            requireShards(",
    test: {
      file: 'test/faults/webhook-pause.test.ts',
      title: 'after the answer: its late result does not end a delivery that another process is posting',
    },
    reason: /expected 1 to be \+0/,
  },
  {
    name: 'newer webhooks leave after the result of an older one was refused',
    file: 'src/services/webhooks/delivery.ts',
    from: 'outcome.held.lose()\n',
    to: 'void outcome\n',
    test: {
      file: SHARDS,
      title: 'a process whose result is refused posts nothing newer about the message before it begins anew',
    },
    reason: /\d+ after \d+/,
  },
  {
    name: 'a shard is given away with posts under way',
    file: 'src/worker/webhooks/shards.ts',
    from: 'const released = [...giving].filter((shard) => !work.isBusy(shard))',
    to: 'const released = [...giving]',
    test: { file: SHARDS, title: 'a shard is given away only when its posts under way are stored' },
    reason: /expected 8 to be 7|expected true to be false/,
  },
  {
    name: 'a request that waited in a stopped process counts as new',
    file: 'src/api/http/arrival.ts',
    from: 'request.arrivedAt = isNew ? accepted.since : pulse.unreadSince()',
    to: 'request.arrivedAt = currentMoment()',
    test: {
      file: 'test/faults/stalled-requests.test.ts',
      title: 'are not executed after their client gave up, and merge with their accepted retry',
    },
    reason: /'once', 'once'/,
  },
]
