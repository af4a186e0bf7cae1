// Who hears about an empty feeder.

import { postJson } from "./http.ts";
import { readingsSince } from "./readings.ts";
import { ownersOf } from "./users.ts";

const HALF_AN_HOUR = 30 * 60 * 1000;
const BARE = 310;
const MARGIN = 12;

/** Whether every reading of the last half hour was too light. One low reading is a squirrel. */
export function isEmpty(feeder: string, now: number): boolean {
  const recent = readingsSince(feeder, now - HALF_AN_HOUR);
  return recent.length >= 5 && recent.every((reading) => reading.grams < BARE + MARGIN);
}

/** Tell the owners once; how many were told. */
export async function tellOwners(feeder: string): Promise<number> {
  let told = 0;
  for (const owner of ownersOf(feeder)) {
    const arrived = await postJson(`${process.env.SCHOOL_URL}/messages`, {
      to: owner.id,
      text: `The ${feeder} feeder is empty.`,
    });
    told += arrived ? 1 : 0;
  }
  return told;
}
