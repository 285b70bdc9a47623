// Loaded into a server before the program: its clock is wrong by CLOCK_OFF_MS.
const off = Number(process.env.CLOCK_OFF_MS)
const { now } = Date
Date.now = () => now() + off
globalThis.Date = class extends Date {
  constructor(...parts) {
    super(...(parts.length > 0 ? parts : [Date.now()]))
  }
}
