// Puts a brotli and a gzip copy beside each file that becomes smaller by it.
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const compressible = /\.(css|html|js|json|mjs|svg|txt|webmanifest)$/;
const folder = process.argv[2];

for (const name of readdirSync(folder, { recursive: true })) {
  const path = join(folder, name);
  if (!compressible.test(name) || !statSync(path).isFile()) continue;
  const content = readFileSync(path);
  const options = {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: content.length,
    },
  };
  const copies = { ".br": brotliCompressSync(content, options), ".gz": gzipSync(content, { level: 9 }) };
  for (const [suffix, copy] of Object.entries(copies)) {
    if (copy.length < content.length) writeFileSync(path + suffix, copy);
  }
}
