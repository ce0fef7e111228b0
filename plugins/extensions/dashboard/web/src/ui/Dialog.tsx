import { Modal, type ModalProps } from "@mantine/core";

import { useFocusBack } from "./focus";

/** A dialog that is in the page only while it is open. */
export function Dialog(props: Omit<ModalProps, "opened">) {
  useFocusBack();
  return <Modal opened {...props} />;
}
