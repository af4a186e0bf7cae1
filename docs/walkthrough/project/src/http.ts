// The one place that talks to other machines.

export interface Answer {
  status: number;
  body: unknown;
  milliseconds: number;
}

const PATIENCE = 4000;

/** Ask for a document. Never throws: a machine that does not answer has status 0. */
export async function getJson(url: string): Promise<Answer> {
  const began = Date.now();
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), PATIENCE);
  try {
    const response = await fetch(url, { signal: stop.signal });
    const body = response.ok ? await response.json() : null;
    return { status: response.status, body, milliseconds: Date.now() - began };
  } catch {
    return { status: 0, body: null, milliseconds: Date.now() - began };
  } finally {
    clearTimeout(timer);
  }
}

/** Send a document and say whether it arrived. */
export async function postJson(url: string, body: unknown): Promise<boolean> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return response.ok;
  } catch {
    return false;
  }
}
