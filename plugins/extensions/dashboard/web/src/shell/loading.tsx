/** What lies above the pages and is loaded later: the overview needs neither dialogs nor messages. */
import { type ComponentType, useSyncExternalStore } from "react";

let Overlays: ComponentType | null = null;
const watchers = new Set<() => void>();

/** Loads dialogs and messages, once. */
export async function loadOverlays(): Promise<void> {
  if (Overlays !== null) return;
  ({ Overlays } = await import("./Overlays"));
  for (const watcher of watchers) watcher();
}

function subscribe(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

/** Dialogs and messages, once they are loaded. */
export function LoadedOverlays() {
  const Component = useSyncExternalStore(subscribe, () => Overlays);
  return Component && <Component />;
}
