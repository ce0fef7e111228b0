import { createTheme, type MantineColorsTuple } from "@mantine/core";

import { texts } from "~/texts";

/** Cool neutrals; the middle steps are dark enough for text on white (4.5:1 from step 6 on). */
const gray: MantineColorsTuple = [
  "#f8f9fa",
  "#f1f3f5",
  "#e6e9ed",
  "#d8dde3",
  "#bcc3cc",
  "#929ba8",
  "#636d7c",
  "#47505d",
  "#2e353f",
  "#1a1e24",
];

/** Text first, page last: Mantine takes step 0 for text, 6 for surfaces and 7 for the body. */
const dark: MantineColorsTuple = [
  "#e3e6ea",
  "#c3c9d1",
  "#9ba4b0",
  "#6b7480",
  "#363c44",
  "#272b31",
  "#1b1e22",
  "#131517",
  "#0e1011",
  "#090a0b",
];

/** The one accent. */
const iris: MantineColorsTuple = [
  "#eef1fd",
  "#dbe1fa",
  "#b4c0f3",
  "#8b9dee",
  "#687fe8",
  "#4d68e2",
  "#3d5bd9",
  "#304bc0",
  "#2842ac",
  "#1d3797",
];

export const theme = createTheme({
  primaryColor: "iris",
  primaryShade: { light: 6, dark: 5 },
  colors: { gray, dark, iris },
  autoContrast: true,
  fontFamily: "'Inter Variable', ui-sans-serif, system-ui, sans-serif",
  fontFamilyMonospace:
    "ui-monospace, 'SF Mono', 'Cascadia Code', 'JetBrains Mono', Menlo, Consolas, monospace",
  fontSizes: { xs: "12px", sm: "13px", md: "14px", lg: "16px", xl: "18px" },
  lineHeights: { xs: "16px", sm: "20px", md: "20px", lg: "24px", xl: "28px" },
  spacing: { xs: "8px", sm: "12px", md: "16px", lg: "24px", xl: "32px" },
  radius: { xs: "3px", sm: "5px", md: "8px", lg: "12px", xl: "16px" },
  defaultRadius: "sm",
  cursorType: "pointer",
  headings: {
    fontWeight: "600",
    sizes: {
      h1: { fontSize: "20px", lineHeight: "28px" },
      h2: { fontSize: "16px", lineHeight: "24px" },
      h3: { fontSize: "14px", lineHeight: "20px" },
    },
  },
  // Plain values: `extend` of each component would put all of them into the first load.
  components: {
    ActionIcon: { defaultProps: { variant: "subtle", color: "gray" } },
    Badge: { defaultProps: { variant: "light", radius: "sm", tt: "none", fw: 500 } },
    Button: { defaultProps: { size: "xs", fw: 500 } },
    Card: { defaultProps: { withBorder: true, radius: "md", padding: "md" } },
    Paper: { defaultProps: { radius: "md" } },
    Drawer: {
      defaultProps: { position: "right", padding: "md", closeButtonProps: { "aria-label": texts.common.close } },
      styles: { title: { fontWeight: 600, fontSize: "16px" } },
    },
    Input: { defaultProps: { size: "xs" } },
    InputWrapper: {
      defaultProps: { size: "xs" },
      styles: { description: { fontSize: "12px", lineHeight: "16px", marginBottom: "2px" } },
    },
    Loader: { defaultProps: { size: "sm" } },
    Menu: { defaultProps: { shadow: "md", withinPortal: true } },
    Modal: {
      defaultProps: { centered: true, radius: "md", padding: "md", closeButtonProps: { "aria-label": texts.common.close } },
      styles: { title: { fontWeight: 600, fontSize: "16px" } },
    },
    Select: { defaultProps: { checkIconPosition: "right" } },
    Table: { defaultProps: { verticalSpacing: 6, horizontalSpacing: "sm" } },
    Tabs: {
      defaultProps: { keepMounted: false },
      styles: { tab: { paddingInline: "12px", paddingBlock: "7px", fontSize: "13px" } },
    },
    Text: { defaultProps: { size: "sm" } },
    Tooltip: { defaultProps: { openDelay: 300, withArrow: false, fz: "xs" } },
  },
});

/** Colours of series in a chart, in the order they are given out. Each differs in lightness. */
export const SERIES_COLORS = [
  "var(--series-1)",
  "var(--series-2)",
  "var(--series-3)",
  "var(--series-4)",
  "var(--series-5)",
  "var(--series-6)",
  "var(--series-7)",
  "var(--series-8)",
] as const;
export const OTHER_COLOR = "var(--series-other)";
