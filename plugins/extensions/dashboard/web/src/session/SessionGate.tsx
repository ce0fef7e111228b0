/** Shows the application to those who may see it, and the sign-in to all others. */
import { Center, Loader } from "@mantine/core";
import { lazy, type ReactNode, Suspense, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useLocation, useNavigate } from "react-router";

import { cache } from "~/api/cache";
import { api, onSignedOut, query, type Shape } from "~/api/client";
import { onTabs, tellTabs } from "~/api/tabs";
import { texts } from "~/texts";
import { ErrorState } from "~/ui/states";
import { SessionContext } from "./session";
import classes from "./SessionGate.module.css";

// Who is signed in needs none of it.
const SignIn = lazy(async () => ({ default: (await import("./SignIn")).SignIn }));

const STATUS = "/api/auth/status";

export function SessionGate({ children }: { children: ReactNode }) {
  const status = query.useQuery("get", STATUS, {}, { staleTime: Number.POSITIVE_INFINITY });
  const [isRefused, setRefused] = useState(false);
  const wasIn = useRef(false);
  // The page to begin on. The router shows a new address when it finds the time for it; until then
  // no page is shown, or the one at the old address would lead elsewhere.
  const landing = useRef<string | null>(null);
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const { refetch } = status;

  const isLanded = landing.current === null || landing.current === pathname;
  const isIn = status.data !== undefined && !isRefused && isOpen(status.data) && isLanded;

  /** Forgets what was shown; another person may sign in next. */
  const leave = useCallback(async () => {
    wasIn.current = false;
    setRefused(true);
    cache.clear();
    const { data } = await refetch();
    setRefused(data !== undefined && !isOpen(data));
  }, [refetch]);

  /** Reads again what was refused a moment ago. */
  const goOn = useCallback(async () => {
    await refetch();
    setRefused(false);
    await cache.invalidateQueries({ predicate: ({ queryKey }) => queryKey[1] !== STATUS });
  }, [refetch]);

  // Of what is on the screen only: React may render an address and then discard it.
  useEffect(() => {
    if (isIn) wasIn.current = true;
    if (pathname === landing.current) landing.current = null;
  });
  useEffect(
    () =>
      onSignedOut(() => {
        setRefused(true);
        void refetch();
      }),
    [refetch],
  );
  useEffect(
    () =>
      onTabs(({ kind }) => {
        if (kind === "signed-out") void leave();
        if (kind === "signed-in") void goOn();
      }),
    [leave, goOn],
  );

  const session = useMemo(
    () => ({
      name: status.data?.displayName ?? texts.shell.local,
      isSignedIn: status.data?.authenticated ?? false,
      signOut: async () => {
        await api.POST("/api/auth/logout");
        tellTabs({ kind: "signed-out" });
        await leave();
      },
    }),
    [status.data, leave],
  );

  async function enter(isFirst: boolean) {
    tellTabs({ kind: "signed-in" });
    if (isFirst) landing.current = "/start";
    else if (pathname === "/login") landing.current = "/overview";
    if (landing.current !== null) await navigate(landing.current, { replace: true });
    await goOn();
  }

  if (status.data === undefined)
    return status.error ? (
      <Center h="100vh" p="md">
        <ErrorState error={status.error} onRetry={() => refetch()} />
      </Center>
    ) : (
      <Waiting />
    );
  // What was typed before the session ended is there again afterwards.
  return (
    <SessionContext.Provider value={session}>
      {(isIn || wasIn.current) && (
        <div inert={!isIn} className={isIn ? undefined : classes.kept}>
          {children}
        </div>
      )}
      {!isIn && (
        <div className={classes.above} data-above>
          <Suspense fallback={<Waiting />}>
            <SignIn status={status.data} isExpired={wasIn.current} onDone={enter} />
          </Suspense>
        </div>
      )}
    </SessionContext.Provider>
  );
}

function Waiting() {
  return (
    <Center h="100vh">
      <Loader aria-label={texts.common.loading} />
    </Center>
  );
}

function isOpen(status: Shape<"Status">): boolean {
  return status.authenticated || !status.requireLogin;
}
