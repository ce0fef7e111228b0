/**
 * All texts of the dashboard, in the language of the page. One file a page in `texts/`, which is
 * loaded with its page: write `texts.keys`, not `const { keys } = texts`, which would take all.
 */
export * as texts from "./texts/en";
