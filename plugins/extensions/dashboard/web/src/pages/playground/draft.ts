/** A conversation that another page hands to the playground. It stays in this tab. */
import type { Turn } from "~/chat/conversation";
import type { Options } from "./messages";

export interface Draft {
  model: string;
  turns: readonly Turn[];
  options: Partial<Options>;
}

const NAME = "gateway-draft";

export function keepDraft(draft: Draft): void {
  sessionStorage.setItem(NAME, JSON.stringify(draft));
}

export function takeDraft(): Draft | null {
  const text = sessionStorage.getItem(NAME);
  sessionStorage.removeItem(NAME);
  return text === null ? null : (JSON.parse(text) as Draft);
}
