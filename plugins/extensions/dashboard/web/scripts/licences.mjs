// Writes the licences of every package that the application may contain to licences.txt.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const folder = process.argv[2];
const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8"));
const line = "-".repeat(72);
const entries = [];

for (const [place, entry] of Object.entries(packages)) {
  if (place === "" || entry.dev || entry.peer || !existsSync(place)) continue;
  const about = JSON.parse(readFileSync(join(place, "package.json"), "utf8"));
  const files = readdirSync(place).filter((name) => /^(licen[cs]e|copying|notice)/i.test(name));
  const texts = files.map((name) => readFileSync(join(place, name), "utf8").trim());
  entries.push([`${about.name} ${about.version} (${about.license ?? "see below"})`, ...texts].join("\n\n"));
}
const head = "The dashboard contains parts of these packages.";
writeFileSync(join(folder, "licences.txt"), [head, ...entries.sort()].join(`\n\n${line}\n\n`) + "\n");
