// Readings of the feeders, in the order in which they came.

export interface Reading {
  feeder: string;
  grams: number;
  landings: number;
  taken: number;
  received: number;
}

const SKEW = 10 * 60 * 1000;
const readings: Reading[] = [];

/** Keep a reading. The feeder's clock is believed while it is not off by more than ten minutes. */
export function keepReading(given: Omit<Reading, "received">): Reading {
  const received = Date.now();
  const taken = Math.abs(received - given.taken) > SKEW ? received : given.taken;
  const reading = { ...given, taken, received };
  readings.push(reading);
  return reading;
}

/** Readings of a feeder since an instant, oldest first. */
export function readingsSince(feeder: string, since: number): Reading[] {
  return readings.filter((reading) => reading.feeder === feeder && reading.taken >= since);
}

/** Landings of a feeder on the day of an instant. */
export function landingsOn(feeder: string, instant: number): number {
  const day = new Date(instant).toDateString();
  return readings
    .filter((reading) => reading.feeder === feeder && new Date(reading.taken).toDateString() === day)
    .reduce((sum, reading) => sum + reading.landings, 0);
}
