/** Where a vendor's login sends its window back to; the page that began the login goes on by itself. */
import { Center, Stack, Text, Title } from "@mantine/core";
import { useEffect } from "react";

import { texts } from "~/texts";
import { readReturn, tellReturn } from "./callback";

const words = texts.providers.oauth;

export default function CallbackPage() {
  useEffect(() => {
    const back = readReturn(window.location.search);
    // A code is good once, and need not stay in the window's history.
    window.history.replaceState(null, "", window.location.pathname);
    if (back) tellReturn(back);
  }, []);
  return (
    <Center p="xl">
      <Stack gap="xs" align="center">
        <Title order={2}>{words.back}</Title>
        <Text c="dimmed">{words.close}</Text>
      </Stack>
    </Center>
  );
}
