/** How the window that comes back from a vendor's login tells the page that waits for it. */
export const CALLBACK = "/dashboard/callback";
const CHANNEL = "gateway-login";

export interface Return {
  state: string;
  code: string | null;
  error: string | null;
}

/** Reads what a vendor has sent back with a window. */
export function readReturn(search: string): Return | null {
  const query = new URLSearchParams(search);
  const state = query.get("state");
  return state ? { state, code: query.get("code"), error: query.get("error_description") ?? query.get("error") } : null;
}

/** Only pages of this origin hear it. */
export function tellReturn(back: Return): void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage(back);
  channel.close();
}

/** Calls `heard` when the window of this login comes back; gives what ends the listening. */
export function listenForReturn(state: string, heard: (back: Return) => void): () => void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = ({ data }: MessageEvent<Return>) => {
    if (data?.state === state) heard(data);
  };
  return () => channel.close();
}
