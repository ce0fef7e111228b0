/** Where the keyboard goes when something that lay above the page is gone. */
import { useEffect, useState } from "react";

/** What has the focus; for an item of a menu, which closes, the button that has opened the menu. */
function focused(): Element | null {
  const at = document.activeElement;
  const menu = at?.closest("[role=menu]");
  return menu ? document.getElementById(menu.getAttribute("aria-labelledby") ?? "") : at;
}

/** Gives the focus to an element, or to the page where that element is no longer there. */
export function focusOn(element: Element | null): void {
  const target = element instanceof HTMLElement && element.isConnected && element !== document.body ? element : document.getElementById("content");
  target?.focus({ preventScroll: true });
}

/**
 * Gives the focus back once the component is gone. The library does so where it closes a dialog, not
 * where a dialog is taken out of the page.
 */
export function useFocusBack(): void {
  const [before] = useState(focused);
  useEffect(
    () => () => {
      // After the dialog's own elements have left, and unless another one has opened meanwhile.
      setTimeout(() => {
        if (document.activeElement === null || document.activeElement === document.body) focusOn(before);
      });
    },
    [before],
  );
}
