import { isEmpty } from "../src/alerts.ts";
import { keepReading } from "../src/readings.ts";

test("one low reading is a squirrel", () => {
  keepReading({ feeder: "blue", grams: 100, landings: 1, taken: Date.now() });
  expect(isEmpty("blue", Date.now())).toBe(false);
});

test("half an hour of low readings is an empty feeder", () => {
  for (let minute = 0; minute < 30; minute += 5) {
    keepReading({ feeder: "red", grams: 300, landings: 0, taken: Date.now() - minute * 60 * 1000 });
  }
  expect(isEmpty("red", Date.now())).toBe(true);
});
