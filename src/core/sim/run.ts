/** The name of a test run: what it does on a world that others use, too, is told apart by it. */
export const RUN_ID = /^[A-Za-z0-9._:-]{1,64}$/
