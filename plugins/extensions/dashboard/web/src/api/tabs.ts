/** What the tabs of one browser tell each other. */
type Notice = { kind: "changed"; paths: readonly string[] } | { kind: "signed-in" } | { kind: "signed-out" };
type Listener = (notice: Notice) => void;

const channel = new BroadcastChannel("gateway-dashboard");

/** Tells every other tab, not this one. */
export function tellTabs(notice: Notice): void {
  channel.postMessage(notice);
}

/** Calls `listener` for what other tabs tell, until the function that it gives is called. */
export function onTabs(listener: Listener): () => void {
  const receive = ({ data }: MessageEvent<Notice>) => listener(data);
  channel.addEventListener("message", receive);
  return () => channel.removeEventListener("message", receive);
}
