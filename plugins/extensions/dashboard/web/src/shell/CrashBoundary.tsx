import { Component, type ReactNode } from "react";

import { CrashedPage } from "./fallbacks";

interface Props {
  /** What failed is tried again once this is another one. */
  at: string;
  children: ReactNode;
}

interface State {
  at: string;
  error: unknown;
}

/** Keeps the menu when a page fails. */
export class CrashBoundary extends Component<Props, State> {
  override state: State = { at: this.props.at, error: null };

  static getDerivedStateFromError(error: unknown): Partial<State> {
    return { error };
  }

  static getDerivedStateFromProps({ at }: Props, state: State): State | null {
    return at === state.at ? null : { at, error: null };
  }

  override render(): ReactNode {
    return this.state.error === null ? this.props.children : <CrashedPage error={this.state.error} />;
  }
}
