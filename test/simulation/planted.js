/**
 * Small faults, each of which breaks one promise. `npm run planted` plants one after the other in a copy of the program
 * and expects the simulation to find it. `from` occurs once in the file.
 */
export const PLANTED = [
  {
    name: 'a send is answered before it is stored',
    file: 'src/services/messages/acceptance.ts',
    from: 'await ctx.db.write(',
    to: 'void ctx.db.write(',
  },
  {
    name: 'a message leaves before its attempt is stored',
    file: 'src/services/messages/claim.ts',
    from: 'await ctx.db.write((sql) =>',
    to: 'void ctx.db.write((sql) =>',
  },
  {
    name: 'an interrupted send is sent again',
    file: 'src/services/messages/outcomes.ts',
    from: "outcome: 'unknown',",
    to: "outcome: 'never-left',",
  },
  {
    name: 'a lookup is believed before the carrier has settled',
    file: 'src/core/messages/outcome.ts',
    from: 'if (now < settledAt) {',
    to: 'if (now < 0) {',
  },
  {
    name: 'a lookup that finds the message is ignored',
    file: 'src/core/messages/outcome.ts',
    from: 'if (evidence.found) {',
    to: 'if (evidence.found && now < 0) {',
  },
  {
    name: 'a broken connection counts as a send that never left',
    file: 'src/worker/lines/wire.ts',
    from: "resolve({ outcome: 'unknown', code: 'driver_error', detail: 'The driver failed during the send' })",
    to: "resolve({ outcome: 'never-left', code: 'driver_error', detail: '' })",
  },
  {
    name: 'a send without an answer is not in doubt',
    file: 'src/core/messages/outcome.ts',
    from: "status: mayAdvance(message, 'PENDING') ? 'PENDING' : message.status,",
    to: 'status: message.status,',
  },
  {
    name: 'the retry of a client makes a second message',
    file: 'src/services/replay.ts',
    from: 'const twin = twins.find((one) => isSameSend(one, message))',
    to: 'const twin = twins.find(() => false)',
  },
  {
    name: 'an idempotency key is not stored',
    file: 'src/services/messages/acceptance.ts',
    from: 'keyed.map((item) => replayOf(item.request, item.message, now)),',
    to: '[],',
  },
  {
    name: 'a text that was delivered again is not recognised',
    file: 'src/services/messages/inbound/sort.ts',
    from: 'if (stored.has(providerId)) {',
    to: "if (stored.has(providerId + ' again')) {",
  },
  {
    name: 'a text is acknowledged before it is stored',
    file: 'src/services/messages/inbound/inbound.ts',
    from: 'await storing.finally(() => underWay.delete(storing))',
    to: 'void storing.finally(() => underWay.delete(storing))',
  },
  {
    name: 'the next webhook does not wait for the result of the one before',
    file: 'src/worker/webhooks/lane.ts',
    from: 'if (posted) await store(entry, posted.record)\n    else finish(entry, ctx.clock.now() + 1000)',
    to: 'finish(entry, null)\n    if (posted) await posted.record()',
  },
  {
    name: 'a webhook is marked as delivered before it is posted',
    file: 'src/services/webhooks/delivery.ts',
    from: 'const { attempt, outcome } = await post(',
    to: "const done = endDelivery(delivery, 'delivered', 200, null, ctx.clock.now())\n      await store({ delivery: done, attempt: null, held })\n      const { attempt, outcome } = await post(",
  },
  {
    name: 'a failed webhook is not repeated',
    file: 'src/core/webhooks/judge.ts',
    from: 'const delays = RETRY_DELAYS[schedule]',
    to: 'const delays = RETRY_DELAYS[schedule].slice(9)',
  },
  {
    name: 'the position in the log moves before the deliveries are stored',
    file: 'src/services/webhooks/fanout.ts',
    from: 'const lanes = await ctx.db.tx(async (sql) => {\n    if (!(await moveFeed(sql, accountId, feed.seq, last.seq))) return undefined',
    to: 'const hasMoved = await moveFeed(ctx.db, accountId, feed.seq, last.seq)\n  const lanes = await ctx.db.tx(async (sql) => {\n    if (!hasMoved) return undefined',
  },
  {
    name: 'a late receipt sets a status back',
    file: 'src/core/messages/message.ts',
    from: 'return RANK[to] > RANK[from.status]',
    to: 'return true',
  },
  {
    name: 'a receipt that is faster than the answer is dropped',
    file: 'src/services/messages/receipts.ts',
    from: 'else waiting.push(one.receipt)',
    to: 'else void one.receipt',
  },
]
