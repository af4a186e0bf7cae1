// Lines that a person can read at six in the morning.

export type Level = "note" | "warning" | "trouble";

const MARKS: Record<Level, string> = { note: " ", warning: "!", trouble: "X" };
const lines: string[] = [];

/** Write a line. Facts follow the sentence as name=value. */
export function writeLine(level: Level, sentence: string, facts: Record<string, string | number> = {}): void {
  const told = Object.entries(facts).map(([name, value]) => `${name}=${value}`);
  const line = [MARKS[level], new Date().toISOString(), sentence, ...told].join(" ");
  lines.push(line);
  console.log(line);
}

/** The last lines, oldest first. */
export function lastLines(count: number): string[] {
  return lines.slice(-count);
}
