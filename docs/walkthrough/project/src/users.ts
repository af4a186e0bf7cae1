// Accounts of children and teachers. The school's server owns them; we keep what we saw.

import { getJson } from "./http.ts";

export interface User {
  id: number;
  name: string;
  feeder: string;
  seen: number;
}

const HOUR = 3600 * 1000;
const kept = new Map<number, User>();

/** The account with this number, from the school's server or as we saw it last. */
export async function fetchUser(id: number): Promise<User> {
  const known = kept.get(id);
  if (known && Date.now() - known.seen < HOUR) {
    return known;
  }
  const answer = await getJson(`${process.env.SCHOOL_URL}/accounts/${id}`);
  if (answer.status === 200) {
    const user = { ...(answer.body as User), seen: Date.now() };
    kept.set(id, user);
    return user;
  }
  if (known) {
    return known;
  }
  throw new Error(`There is no account ${id}.`);
}

/** Whose feeder this is. */
export function ownersOf(feeder: string): User[] {
  return [...kept.values()].filter((user) => user.feeder === feeder);
}

/** Forget everyone, as on the first day of a school year. */
export function forgetAll(): void {
  kept.clear();
}
