export const session = {
  signIn: "Sign in",
  password: "Password",
  code: "Code",
  codeHint: "Six digits of your authenticator app, or a backup code.",
  verify: "Verify",
  oidc: (label: string) => label || "Sign in with your organisation",
  or: "or",
  wrong: (left: number) => (left === 1 ? "One attempt is left." : `${left} attempts are left.`),
  locked: (wait: string) => `Too many attempts. Try again in ${wait}.`,
  forgottenLabel: "Forgotten the password?",
  forgotten: "Run this on the gateway's machine:",
  expired: "Your session has ended. Sign in again and go on where you were.",
  first: "Set a password",
  firstHint:
    "This gateway has no password yet. Choose one for the dashboard; programs use keys instead.",
  newPassword: "New password",
  repeat: "The same again",
  differ: "The two are not the same.",
  short: "At least 6 characters.",
  setPassword: "Set the password and go on",
  noSecret: "Signing in is not set up yet",
  noSecretHint:
    "Sessions are signed with JWT_SECRET, which is not set. Stop the gateway and start it with a random one:",
  notLocal: "The first password is set on the gateway's own machine",
  notLocalHint:
    "Open the dashboard in a browser on that machine, or start the gateway with INITIAL_PASSWORD set.",
  errors: {
    oidc_unreachable: "The identity provider did not respond.",
    oidc_refused: "The identity provider refused the sign-in.",
    oidc_expired: "The sign-in took too long, or began in another browser.",
    oidc_failed: "The identity provider's answer was not accepted. The log says why.",
  } as Record<string, string>,
} as const;
