import "@fontsource-variable/inter/wght.css";
import "./fonts.css";
import "@mantine/core/styles/baseline.css";
import "@mantine/core/styles/default-css-variables.css";
import "@mantine/core/styles/global.css";
import "./styles.css";

import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { App } from "./App";

const root = document.getElementById("root");
if (root === null) throw new Error("The page has no element named root");
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
