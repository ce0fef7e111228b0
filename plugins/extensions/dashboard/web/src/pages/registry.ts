/** The pages, in the order of the menu: one line each. */
import {
  IconApi,
  IconBolt,
  IconCube,
  IconDatabase,
  IconFiles,
  IconKey,
  IconPhoto,
  IconLayoutDashboard,
  IconListDetails,
  IconMessages,
  IconPlugConnected,
  IconPuzzle,
  IconSettings,
  IconReportMoney,
  IconStack2,
  type Icon,
} from "@tabler/icons-react";
import type { ComponentType } from "react";

import { texts } from "~/texts";

export type PageGroup = "observe" | "configure" | "build" | "system";

/** Its default export is the page. */
export interface PageModule {
  default: ComponentType;
}

export interface PageEntry {
  /** Below `/dashboard`; also the folder in `pages/`. */
  path: string;
  group: PageGroup;
  label: string;
  icon: Icon;
  /** Words besides the label that the command palette finds it by. */
  words?: string;
  /** The module; null for the first page, which is loaded with the application. */
  load: (() => Promise<PageModule>) | null;
}

const { pages } = texts.shell;

export const PAGES: readonly PageEntry[] = [
  { path: "overview", group: "observe", label: pages.overview, icon: IconLayoutDashboard, words: "home charts live health", load: null },
  { path: "requests", group: "observe", label: pages.requests, icon: IconListDetails, words: "logs history tail errors", load: () => import("./requests/page") },
  { path: "usage", group: "observe", label: pages.usage, icon: IconReportMoney, words: "spend prices tokens export csv", load: () => import("./usage/page") },
  { path: "providers", group: "configure", label: pages.providers, icon: IconPlugConnected, words: "accounts vendors nodes cooldown", load: () => import("./providers/page") },
  { path: "models", group: "configure", label: pages.models, icon: IconCube, words: "catalog alias context disable test", load: () => import("./models/page") },
  { path: "combos", group: "configure", label: pages.combos, icon: IconStack2, words: "fallback chain strategy weights", load: () => import("./combos/page") },
  { path: "media", group: "configure", label: pages.media, icon: IconPhoto, words: "images speech search embeddings auto", load: () => import("./media/page") },
  { path: "keys", group: "configure", label: pages.keys, icon: IconKey, words: "tokens limits policy budget", load: () => import("./keys/page") },
  { path: "start", group: "build", label: pages.start, icon: IconBolt, words: "first run snippets quick start", load: () => import("./start/page") },
  { path: "playground", group: "build", label: pages.playground, icon: IconMessages, words: "chat images speech try", load: () => import("./playground/page") },
  { path: "api", group: "build", label: pages.api, icon: IconApi, words: "openapi routes reference curl", load: () => import("./api/page") },
  { path: "plugins", group: "system", label: pages.plugins, icon: IconPuzzle, words: "extensions packages tier", load: () => import("./plugins/page") },
  { path: "files", group: "system", label: pages.files, icon: IconFiles, words: "uploads batches quota download cancel", load: () => import("./files/page") },
  { path: "database", group: "system", label: pages.database, icon: IconDatabase, words: "postgresql sqlite cutover rollback move", load: () => import("./database/page") },
  { path: "settings", group: "system", label: pages.settings, icon: IconSettings, words: "password mfa oidc proxy retention audit log backup restore export import", load: () => import("./settings/page") },
];
