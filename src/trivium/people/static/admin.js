"use strict";
// Keeps the counts current without loading the page anew.
setInterval(async () => {
  try {
    const response = await fetch("admin", { credentials: "same-origin" });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const counts = page.getElementById("live");
    if (counts) document.getElementById("live").replaceChildren(...counts.childNodes);
  } catch { /* the server is away: the next time */ }
}, 5000);
