// What comes before the application: its colours, and the first questions, which are answered while
// its script is on its way. A file, because the content policy forbids inline scripts.
(function () {
  var stored = null;
  try {
    stored = localStorage.getItem("gateway-scheme");
  } catch (_) {
    // Storage may be switched off in the browser.
  }
  var dark =
    stored === "dark" ||
    (stored !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.setAttribute("data-mantine-color-scheme", dark ? "dark" : "light");

  var early = (window.gatewayEarly = new Map());
  function ask(path) {
    var answer = fetch(path, { headers: { accept: "*/*" } });
    early.set(path, answer);
    // Whoever takes the answer asks again.
    answer.catch(function () {});
    return answer;
  }

  var frame = ["/api/pages"];
  var overview = [
    "/api/usage/series?period=24h&groupBy=model&limit=6",
    "/api/health/providers?force=1",
    "/api/models/availability",
    "/api/providers",
    "/api/vendors",
    "/api/provider-nodes",
  ];
  var isOverview = /^\/dashboard(\/|\/overview|\/login)?$/.test(location.pathname) && !location.search;
  ask("/api/auth/status")
    .then(function (answer) {
      return answer.clone().json();
    })
    .then(function (status) {
      if (status.authenticated || !status.requireLogin) (isOverview ? overview.concat(frame) : frame).forEach(ask);
    })
    .catch(function () {});
})();
