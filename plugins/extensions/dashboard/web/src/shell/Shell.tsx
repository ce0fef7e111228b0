/** The frame around all pages: menu at the left, on a phone behind a button. */
import { ActionIcon, Box, Burger, Group, NavLink, Text, UnstyledButton } from "@mantine/core";
import { useDisclosure, useHotkeys } from "@mantine/hooks";
import { IconChevronUp, IconPuzzle, IconSearch, IconUserCircle } from "@tabler/icons-react";
import { type ComponentType, useState } from "react";
import { Link, Outlet, useLocation } from "react-router";

import { query } from "~/api/client";
import { useUsage } from "~/api/live";
import { count } from "~/format/numbers";
import { PAGES, type PageGroup } from "~/pages/registry";
import { useSession } from "~/session/session";
import { texts } from "~/texts";
import { StatusDot } from "~/ui/status";
import { CrashBoundary } from "./CrashBoundary";
import { Mark } from "./Mark";
import classes from "./Shell.module.css";

const GROUPS: readonly PageGroup[] = ["observe", "configure", "build", "system"];
const IS_APPLE = /Mac|iPhone|iPad/.test(navigator.userAgent);

export function Shell() {
  const [opened, { toggle, close }] = useDisclosure(false);
  const { pathname } = useLocation();
  const [Palette, openPalette] = useOpened(() => import("./Palette"));
  // Also while something is typed.
  useHotkeys([["mod+K", openPalette]], []);
  useHotkeys([
    ["/", openPalette],
    ["Escape", close],
  ]);
  return (
    <div className={classes.shell} data-opened={opened || undefined}>
      <a href="#content" className={classes.skip}>
        {texts.shell.skip}
      </a>
      <header className={classes.bar}>
        <Group gap="xs" wrap="nowrap">
          <Burger opened={opened} onClick={toggle} size="sm" aria-label={texts.shell.menu} aria-expanded={opened} />
          <Mark />
        </Group>
        <ActionIcon size="lg" onClick={openPalette} aria-label={texts.shell.palette}>
          <IconSearch size={18} />
        </ActionIcon>
      </header>
      <nav className={classes.menu} aria-label={texts.shell.menu}>
        <Box p="sm" pb={4} visibleFrom="sm">
          <Box px={8} py={6}>
            <Mark />
          </Box>
          <UnstyledButton className={classes.search} onClick={openPalette}>
            <IconSearch size={14} />
            <Text size="xs" span flex={1}>
              {texts.shell.palette}
            </Text>
            <Text span className={classes.shortcut}>
              {IS_APPLE ? "⌘K" : "Ctrl K"}
            </Text>
          </UnstyledButton>
        </Box>
        <div className={classes.links}>
          <Links onFollow={close} />
          <PluginLinks onFollow={close} />
        </div>
        <Foot />
      </nav>
      <main className={classes.main} id="content" tabIndex={-1}>
        <CrashBoundary at={pathname}>
          <Outlet />
        </CrashBoundary>
      </main>
      {Palette && <Palette />}
    </div>
  );
}

interface Opened {
  default: ComponentType;
  open: () => void;
}

/** What is loaded when it is first opened, and what opens it. */
function useOpened(load: () => Promise<Opened>): [ComponentType | null, () => void] {
  const [Component, setComponent] = useState<ComponentType | null>(null);
  function open() {
    load().then(
      (module) => {
        setComponent(() => module.default);
        module.open();
      },
      // Without a network nothing opens; the page says what is wrong.
      () => {},
    );
  }
  return [Component, open];
}

function Links({ onFollow }: { onFollow: () => void }) {
  const { pathname } = useLocation();
  return GROUPS.map((group) => {
    const pages = PAGES.filter((page) => page.group === group);
    if (pages.length === 0) return null;
    return (
      <Box key={group} mt="sm" role="group" aria-labelledby={`menu-${group}`}>
        <Text id={`menu-${group}`} className={classes.group}>
          {texts.shell.groups[group]}
        </Text>
        {pages.map(({ path, label, icon: Symbol }) => (
          <NavLink
            key={path}
            component={Link}
            to={`/${path}`}
            label={label}
            active={pathname === `/${path}` || pathname.startsWith(`/${path}/`)}
            aria-current={pathname === `/${path}` ? "page" : undefined}
            leftSection={<Symbol size={16} stroke={1.6} />}
            className={classes.link}
            onClick={onFollow}
          />
        ))}
      </Box>
    );
  });
}

/** Pages that plugins have added. */
function PluginLinks({ onFollow }: { onFollow: () => void }) {
  const { pathname } = useLocation();
  const pages = query.useQuery("get", "/api/pages", {}, { staleTime: Number.POSITIVE_INFINITY });
  if (!pages.data || pages.data.pages.length === 0) return null;
  return (
    <Box mt="sm" role="group" aria-labelledby="menu-plugins">
      <Text id="menu-plugins" className={classes.group}>
        {texts.shell.groups.plugins}
      </Text>
      {pages.data.pages.map(({ title, script }) => (
        <NavLink
          key={script}
          component={Link}
          to={`/pages${script}`}
          label={title}
          active={pathname === `/pages${script}`}
          leftSection={<IconPuzzle size={16} stroke={1.6} />}
          className={classes.link}
          onClick={onFollow}
        />
      ))}
    </Box>
  );
}

/** What goes on right now, and who is signed in. */
function Foot() {
  const live = useUsage("today");
  const session = useSession();
  const [UserMenu, openMenu] = useOpened(() => import("./UserMenu"));
  const underWay = live.value?.activeRequests.reduce((sum, each) => sum + each.count, 0);
  return (
    <Box className={classes.foot}>
      <Box px={8} pb={8} fz="xs" c="dimmed">
        <StatusDot tone={live.state === "open" ? "good" : live.state === "lost" ? "bad" : "idle"}>
          {live.state === "open" && underWay !== undefined
            ? texts.shell.underWay(count(underWay))
            : live.state === "lost"
              ? texts.shell.lost
              : texts.shell.connecting}
        </StatusDot>
      </Box>
      <Box pos="relative">
        <UnstyledButton className={classes.user} onClick={openMenu} aria-haspopup="menu">
          <IconUserCircle size={18} stroke={1.6} />
          <Text span truncate flex={1}>
            {session.name}
          </Text>
          <IconChevronUp size={14} />
        </UnstyledButton>
        {UserMenu && <UserMenu />}
      </Box>
    </Box>
  );
}
