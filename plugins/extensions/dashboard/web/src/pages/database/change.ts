/** What the forms of a change know of it, and what they report. */
export interface ChangeProps {
  password: string;
  /** A change is under way, which may be another person's. */
  isBusy: boolean;
  onChanging: (begins: boolean) => void;
  /** Called with what was done: the form is gone then, because the engine is another one. */
  onDone: (text: string) => void;
}
