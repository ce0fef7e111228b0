export const chat = {
  roles: {
    system: "System",
    developer: "Developer",
    user: "User",
    assistant: "Assistant",
    tool: "Tool",
  } as Record<string, string>,
  thinking: "Thinking",
  image: "Image",
  imageElsewhere: "An image at another address",
  call: (name: string) => `Calls ${name}`,
  result: "Result of the tool",
} as const;
