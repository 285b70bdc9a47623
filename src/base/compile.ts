/**
 * Makes a function from its source text, for code that is derived from a table and runs for every message: V8
 * optimises one object literal, but not a loop over the table. Measured for a message: writing a row takes 2 µs less,
 * reading one 4, rendering an answer 2.5. The text must come from constants in the code, never from input.
 */
export function compile<F extends (...args: never[]) => unknown>(
  parameters: readonly string[],
  body: string,
): F {
  return new Function(...parameters, `'use strict'; ${body}`) as F
}
