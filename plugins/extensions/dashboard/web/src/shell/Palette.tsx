import "@mantine/spotlight/styles.css";

import { useMantineColorScheme } from "@mantine/core";
import { createSpotlight, Spotlight, type SpotlightActionData } from "@mantine/spotlight";
import { IconLogout, IconMoon, IconPuzzle, IconSearch, IconSun } from "@tabler/icons-react";
import { useRef } from "react";
import { useNavigate } from "react-router";

import { query } from "~/api/client";
import { PAGES } from "~/pages/registry";
import { useSession } from "~/session/session";
import { texts } from "~/texts";
import { focusOn } from "~/ui/focus";

const [store, palette] = createSpotlight();
let before: Element | null = null;

export function open(): void {
  before = document.activeElement;
  palette.open();
}

/** The command palette: every page, and what can be done from anywhere. */
export default function Palette() {
  const navigate = useNavigate();
  const session = useSession();
  const { setColorScheme } = useMantineColorScheme();
  const ofPlugins = query.useQuery("get", "/api/pages", {}, { staleTime: Number.POSITIVE_INFINITY });
  const isLeaving = useRef(false);

  function go(path: string) {
    isLeaving.current = true;
    navigate(path);
  }

  const actions: SpotlightActionData[] = [
    ...PAGES.map(({ path, label, words, group, icon: Symbol }) => ({
      id: path,
      label,
      keywords: words,
      description: texts.shell.groups[group],
      leftSection: <Symbol size={18} stroke={1.5} />,
      onClick: () => go(`/${path}`),
    })),
    ...(ofPlugins.data?.pages ?? []).map(({ title, script }) => ({
      id: script,
      label: title,
      description: texts.shell.groups.plugins,
      leftSection: <IconPuzzle size={18} stroke={1.5} />,
      onClick: () => go(`/pages${script}`),
    })),
    {
      id: "light",
      label: `${texts.shell.scheme}: ${texts.shell.light}`,
      leftSection: <IconSun size={18} stroke={1.5} />,
      onClick: () => setColorScheme("light"),
    },
    {
      id: "dark",
      label: `${texts.shell.scheme}: ${texts.shell.dark}`,
      leftSection: <IconMoon size={18} stroke={1.5} />,
      onClick: () => setColorScheme("dark"),
    },
  ];
  if (session.isSignedIn)
    actions.push({
      id: "sign-out",
      label: texts.shell.signOut,
      leftSection: <IconLogout size={18} stroke={1.5} />,
      onClick: session.signOut,
    });
  return (
    <Spotlight
      store={store}
      actions={actions}
      // The shell has the shortcuts: they work before this is loaded.
      shortcut={null}
      // The library would give it back only from the second time on, and to a page that was left.
      returnFocus={false}
      onSpotlightClose={() => {
        const target = isLeaving.current ? null : before;
        isLeaving.current = false;
        setTimeout(() => focusOn(target));
      }}
      nothingFound={texts.shell.paletteEmpty}
      highlightQuery
      scrollable
      maxHeight={420}
      searchProps={{
        leftSection: <IconSearch size={18} stroke={1.5} />,
        placeholder: texts.shell.palette,
        "aria-label": texts.shell.palette,
      }}
    />
  );
}
