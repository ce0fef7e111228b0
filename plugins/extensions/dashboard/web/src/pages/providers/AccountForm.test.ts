import { expect, test } from "vitest";

import { dataOf, neededOf } from "./AccountForm";

test("what the first alternative of a schema requires is needed", () => {
  expect(neededOf({ anyOf: [{ required: ["azureEndpoint"] }, { required: ["baseUrl"] }] })).toEqual(["azureEndpoint"]);
  expect(neededOf({})).toEqual([]);
});

test("empty fields are left out of a new account and removed from a stored one", () => {
  expect(dataOf({ baseUrl: "", region: "eu" })).toEqual({ region: "eu" });
  expect(dataOf({ baseUrl: "", region: "eu" }, true)).toEqual({ baseUrl: null, region: "eu" });
});
