/// <reference types="vitest/config" />
import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

// A running gateway, for `npm run dev`. Its origin is sent along, because the gateway accepts a
// sign-in from its own pages only.
const gateway = process.env.GATEWAY_URL ?? "http://127.0.0.1:20127";
const proxied = { target: gateway, changeOrigin: true, headers: { origin: gateway } };

const classNames = /@mantine\/core\/esm\/.*\/(\w+)\.module\.mjs$/;

/** Styles of the components that are used, each beside its script, instead of those of all. */
function componentStyles(): Plugin {
  let isBuild = true;
  return {
    name: "component-styles",
    configResolved({ command }) {
      isBuild = command === "build";
    },
    transform(code, id) {
      const component = classNames.exec(id)?.[1];
      if (component) return `import "@mantine/core/styles/${component}.css";\n${code}`;
      // While developing, the library is one bundle of its own.
      return !isBuild && id.endsWith("/src/main.tsx") ? `import "@mantine/core/styles.css";\n${code}` : null;
    },
  };
}

export default defineConfig({
  base: "/dashboard/",
  plugins: [react(), componentStyles()],
  resolve: { alias: { "~": fileURLToPath(new URL("./src", import.meta.url)) } },
  server: { proxy: { "/api": proxied, "/v1": proxied, "/v1beta": proxied } },
  build: {
    outDir: process.env.DASHBOARD_OUT ?? "dist",
    emptyOutDir: true,
    target: "es2022",
    // Data URLs would need an exception in the content policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 700,
    rolldownOptions: {
      output: {
        // One file instead of dozens that wait for one another.
        codeSplitting: { groups: [{ name: "first", tags: ["$initial"] }] },
      },
    },
  },
  test: {
    environment: "jsdom",
    include: ["src/**/*.test.{ts,tsx}"],
    setupFiles: ["src/test-setup.ts"],
    // A DOM for each file takes longer than all tests.
    isolate: false,
    maxWorkers: 1,
  },
});
