/** An event stream that comes back after a refusal too, which the browser leaves to the page. */
const PAUSE_MS = 5_000;

interface Handlers {
  open: () => void;
  lost: () => void;
  /** The data of an event, by the event's name; `message` has none. */
  events: Readonly<Record<string, (data: string) => void>>;
}

/** Watches an address of the management API until the function that it gives is called. */
export function watchEvents(url: string, { open, lost, events }: Handlers): () => void {
  let source: EventSource;
  let timer = 0;

  function connect() {
    source = new EventSource(url);
    source.onopen = open;
    source.onerror = () => {
      lost();
      // Otherwise the browser connects again by itself.
      if (source.readyState === EventSource.CLOSED) timer = window.setTimeout(connect, PAUSE_MS);
    };
    for (const [name, handle] of Object.entries(events))
      source.addEventListener(name, (event) => handle((event as MessageEvent<string>).data));
  }

  connect();
  return () => {
    window.clearTimeout(timer);
    source.close();
  };
}
