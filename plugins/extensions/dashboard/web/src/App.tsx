import { MantineProvider, localStorageColorSchemeManager } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { type ComponentType, lazy, Suspense } from "react";
import { BrowserRouter, Navigate, Route, Routes } from "react-router";

import { cache } from "./api/cache";
import OverviewPage from "./pages/overview/page";
import { PAGES, type PageModule } from "./pages/registry";
import { SessionGate } from "./session/SessionGate";
import { CrashedPage, MissingPage, WaitingPage } from "./shell/fallbacks";
import { LoadedOverlays, loadOverlays } from "./shell/loading";
import { Shell } from "./shell/Shell";
import { texts } from "./texts";
import { theme } from "./theme";

const schemes = localStorageColorSchemeManager({ key: "gateway-scheme" });

/** A page whose script comes when it is opened, with the dialogs and messages that it may show. */
function later(load: () => Promise<PageModule>): ComponentType {
  return lazy(async () => {
    try {
      const [module] = await Promise.all([load(), loadOverlays()]);
      return module;
    } catch {
      // A script or a style is missing; trying again loads the application anew.
      return { default: () => <CrashedPage error={new Error(texts.shell.notArrived)} /> };
    }
  });
}

// The script of the page that the address names comes with the first answers, not after them.
const opened = PAGES.find(({ path }) => window.location.pathname.startsWith(`/dashboard/${path}`));
opened?.load?.().catch(() => {});

const pages = PAGES.map(({ load, ...page }) => ({ ...page, Component: load === null ? OverviewPage : later(load) }));
const CallbackPage = later(() => import("./session/CallbackPage"));
const PluginPage = later(() => import("./plugin-pages/PluginPage"));

export function App() {
  return (
    <QueryClientProvider client={cache}>
      <MantineProvider theme={theme} defaultColorScheme="auto" colorSchemeManager={schemes}>
        <LoadedOverlays />
        <BrowserRouter basename="/dashboard">
          <SessionGate>
            <Routes>
              <Route Component={Shell}>
                <Route index element={<Navigate to="/overview" replace />} />
                <Route path="login" element={<Navigate to="/overview" replace />} />
                {pages.map(({ path, label, Component }) => (
                  <Route
                    key={path}
                    path={`${path}/*`}
                    element={
                      <Suspense key={path} fallback={<WaitingPage title={label} />}>
                        <Component />
                      </Suspense>
                    }
                  />
                ))}
                <Route
                  path="pages/*"
                  element={
                    <Suspense key="pages" fallback={<WaitingPage />}>
                      <PluginPage />
                    </Suspense>
                  }
                />
                <Route
                  path="callback"
                  element={
                    <Suspense fallback={<WaitingPage />}>
                      <CallbackPage />
                    </Suspense>
                  }
                />
                <Route path="*" Component={MissingPage} />
              </Route>
            </Routes>
          </SessionGate>
        </BrowserRouter>
      </MantineProvider>
    </QueryClientProvider>
  );
}
