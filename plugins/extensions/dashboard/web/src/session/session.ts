/** Who is signed in: read once, and again whenever the gateway refuses a request. */
import { createContext, useContext } from "react";

export interface Session {
  /** A person's name, or that of this machine where no sign-in is required. */
  name: string;
  isSignedIn: boolean;
  signOut: () => void;
}

export const SessionContext = createContext<Session>({ name: "", isSignedIn: false, signOut: () => {} });

export function useSession(): Session {
  return useContext(SessionContext);
}
