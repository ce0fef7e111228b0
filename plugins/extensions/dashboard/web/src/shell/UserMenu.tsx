/** What the person may do who is signed in: colours, signing out. */
import { Menu, useMantineColorScheme } from "@mantine/core";
import { IconDeviceDesktop, IconLogout, IconMoon, IconSun } from "@tabler/icons-react";
import { useSyncExternalStore } from "react";

import { query } from "~/api/client";
import { useSession } from "~/session/session";
import { texts } from "~/texts";
import { focusOn } from "~/ui/focus";
import classes from "./Shell.module.css";

let isOpen = false;
let before: Element | null = null;
const watchers = new Set<() => void>();

function setOpen(value: boolean): void {
  isOpen = value;
  for (const watcher of watchers) watcher();
}

function subscribe(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

export function open(): void {
  before = document.activeElement;
  setOpen(true);
}

/** The library gives the focus to what the menu lies above, which takes none. */
function close(): void {
  setTimeout(() => {
    const at = document.activeElement;
    if (at === null || at === document.body || at.closest("[role=menu]")) focusOn(before);
  });
}

/** A menu above the button that lies below it. */
export default function UserMenu() {
  const opened = useSyncExternalStore(subscribe, () => isOpen);
  const session = useSession();
  const version = query.useQuery("get", "/api/version", {}, { staleTime: Number.POSITIVE_INFINITY });
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const schemes = [
    ["light", texts.shell.light, IconSun],
    ["dark", texts.shell.dark, IconMoon],
    ["auto", texts.shell.system, IconDeviceDesktop],
  ] as const;
  return (
    <Menu position="top-start" width={200} opened={opened} onChange={setOpen} onClose={close} returnFocus={false}>
      <Menu.Target>
        <div className={classes.above} />
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{texts.shell.scheme}</Menu.Label>
        {schemes.map(([scheme, label, Symbol]) => (
          <Menu.Item
            key={scheme}
            leftSection={<Symbol size={14} />}
            rightSection={colorScheme === scheme ? "✓" : null}
            onClick={() => setColorScheme(scheme)}
            closeMenuOnClick={false}
          >
            {label}
          </Menu.Item>
        ))}
        {session.isSignedIn && (
          <>
            <Menu.Divider />
            <Menu.Item leftSection={<IconLogout size={14} />} onClick={session.signOut}>
              {texts.shell.signOut}
            </Menu.Item>
          </>
        )}
        {version.data && <Menu.Label>{texts.shell.version(version.data.currentVersion)}</Menu.Label>}
      </Menu.Dropdown>
    </Menu>
  );
}
