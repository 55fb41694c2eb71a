// Keeps the screen up to date: the server says what is new, and the part that is older is fetched anew.
"use strict";

(function () {
  const live = document.getElementById("live");
  if (live && live.dataset.events && window.EventSource && window.htmx) {
    const lost = document.getElementById("line");
    const version = (part, page) => page.getElementById(part).dataset.version;
    const newest = {}, fetching = {}; // by part: what the server has said, and whether it is on its way
    let posting = 0, posts = 0; // forms on their way, and ever sent: the answer to a form brings the new part itself
    document.body.addEventListener("htmx:beforeRequest", () => { posting += 1; posts += 1; });
    document.body.addEventListener("htmx:afterRequest", () => { posting -= 1; refresh("now"); });
    const alert = (text) => {
      const said = document.getElementById("said");
      said.className = "alarm";
      said.setAttribute("role", "alert");
      said.textContent = text;
    };
    document.body.addEventListener("htmx:sendError", () => { // offline: what was typed stays in its field
      alert("Not sent: the server could not be reached. Nothing was written; send it again once the line is back.");
    });
    document.body.addEventListener("htmx:responseError", (event) => { // a full disk, a log that is gone
      const answer = event.detail.xhr;
      if (answer.status === 409 && event.detail.elt.matches("#now form")) { return; } // the part that it brings says why
      const said = new DOMParser().parseFromString(answer.responseText, "text/html").querySelector("#said p, main p");
      const why = said ? said.textContent : (answer.responseText || "error " + answer.status);
      const what = answer.status < 500 ? "Not accepted: " : "The server failed: ";
      alert(answer.status === 409 ? why : what + why.trim() + " Look at the trials before you send it again.");
    });
    document.body.addEventListener("htmx:afterRequest", (event) => { // a note that was written
      if (event.detail.successful && event.detail.elt.matches("form.line")) { event.detail.elt.reset(); }
    });
    const old = (part) => part in newest && version(part, document) !== newest[part] && !(posting && part === "now");
    const asked = () => (document.querySelector("#now [name=trial]") || {}).value;
    const typed = () => { // what was typed for a question stays while that question is open
      const before = asked(), fields = [...document.querySelectorAll("#now input:not([type=hidden])")].filter((each) => each.value);
      const open = document.querySelector("#now details[open]");
      return () => {
        if (before === undefined || asked() !== before) { return; }
        fields.forEach((each) => { const now = document.getElementById(each.id); if (now) { now.value = each.value; } });
        if (open) { document.querySelector("#now details").open = true; }
      };
    };
    const take = async (part) => { // says whether the answer is older than that to a form, and was left out
      const before = posts;
      const answer = await fetch(part).catch(() => null); // a server that is gone: the line says so
      if (answer === null || !answer.ok) { return false; }
      const text = await answer.text();
      if (part === "now" && posts !== before) { return true; }
      const fresh = version(part, new DOMParser().parseFromString(text, "text/html"));
      const kept = part === "now" ? typed() : () => {};
      if (fresh !== version(part, document)) { window.htmx.swap("#" + part, text, { swapStyle: "outerHTML" }); }
      kept();
      return false;
    };
    const refresh = async (part) => { // one at a time, so that no older answer comes last
      if (fetching[part]) { return; }
      fetching[part] = true;
      for (let said = null; said !== newest[part] && old(part);) { // something new was said meanwhile
        const asked = newest[part];
        said = await take(part) ? null : asked;
      }
      fetching[part] = false;
    };
    const connect = () => {
      const source = new EventSource(live.dataset.events);
      for (const part of ["now", "known"].filter((each) => document.getElementById(each))) {
        source.addEventListener(part, (event) => { newest[part] = event.data; refresh(part); });
      }
      source.addEventListener("open", () => { lost.hidden = true; });
      source.addEventListener("error", () => {
        lost.hidden = false;
        if (source.readyState === EventSource.CLOSED) { setTimeout(connect, 2000); } // refused: the browser gives up, we do not
      });
      window.addEventListener("pagehide", () => source.close());
    };
    connect();

    // What somebody should look at stands in the title, and is heard if sound is on: two tones, from no file.
    const name = document.title.replace(/^\u26a0 .* - /, ""), sound = document.getElementById("sound");
    let said = document.getElementById("now").dataset.alarm, context = null;
    const ring = () => {
      context = context || new AudioContext();
      [0, 0.25].forEach((after, k) => {
        const tone = context.createOscillator(), volume = context.createGain(), at = context.currentTime + after;
        tone.frequency.value = [660, 880][k];
        volume.gain.setValueAtTime(0.2, at);
        volume.gain.exponentialRampToValueAtTime(0.001, at + 0.22);
        tone.connect(volume).connect(context.destination);
        tone.start(at);
        tone.stop(at + 0.22);
      });
    };
    const listens = (on) => {
      sound.setAttribute("aria-pressed", on);
      sound.textContent = on ? "Sound is on" : "Sound is off";
      localStorage.setItem("sound", on);
    };
    document.body.addEventListener("htmx:afterSwap", () => {
      const alarm = document.getElementById("now").dataset.alarm;
      document.title = alarm ? "\u26a0 " + alarm + " - " + name : name;
      if (alarm && alarm !== said && sound && sound.getAttribute("aria-pressed") === "true") { ring(); }
      said = alarm;
    });
    if (sound) { // a judge has none
      listens(localStorage.getItem("sound") === "true");
      sound.hidden = false;
      sound.addEventListener("click", () => {
        listens(sound.getAttribute("aria-pressed") !== "true");
        if (sound.getAttribute("aria-pressed") === "true") { ring(); }
      });
    }

    // A list that somebody has scrolled stays where it was.
    const places = {};
    document.body.addEventListener("htmx:beforeSwap", () => {
      document.querySelectorAll(".scroll").forEach((list, i) => { places[i] = list.scrollTop; });
    });
    document.body.addEventListener("htmx:afterSwap", () => {
      document.querySelectorAll(".scroll").forEach((list, i) => { list.scrollTop = places[i] || 0; });
    });
  }

  // Where knobs do not fit, say how many are out of sight: nobody must take the ones in sight for all.
  const count = () => document.querySelectorAll(".many + .more").forEach((say) => {
    const box = say.previousElementSibling;
    say.textContent = say.textContent || "\u2193";
    say.hidden = false; // it takes room itself
    const end = box.getBoundingClientRect().bottom + 2;
    const left = [...box.querySelectorAll("tbody tr")].filter((row) => row.getBoundingClientRect().bottom > end).length;
    say.textContent = "\u2193 " + left + " more knobs: scroll down";
    say.hidden = !left;
  });
  document.addEventListener("scroll", count, true);
  window.addEventListener("resize", count);
  document.body.addEventListener("htmx:afterSwap", count);
  count();

  // On a small screen a new question with many knobs begins at its first knob, not at the field that has the focus.
  let shown = null;
  const begin = () => {
    const trial = (document.querySelector("#now [name=trial]") || {}).value;
    const low = document.querySelector("#now .many") && matchMedia("(max-width: 60rem)").matches;
    if (low && trial !== shown) { requestAnimationFrame(() => document.getElementById("now").scrollIntoView()); }
    shown = trial;
  };
  window.addEventListener("load", begin);
  document.body.addEventListener("htmx:afterSettle", begin);

  // The list of studies is fetched anew after some seconds, unless somebody is at work in it.
  const again = () => {
    const list = document.querySelector("[data-again]");
    if (!list) { return; }
    setTimeout(async () => {
      const answer = list.contains(document.activeElement) ? null : await fetch(location).catch(() => null);
      const page = answer && answer.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : document;
      const fresh = page.querySelector("[data-again]");
      if (fresh && fresh !== list) { list.replaceWith(fresh); }
      again();
    }, 1000 * list.dataset.again);
  };
  again();

  const copy = document.getElementById("copy");
  if (copy) {
    copy.hidden = false;
    copy.addEventListener("click", () => {
      const entry = document.getElementById("entry");
      entry.select();
      navigator.clipboard.writeText(entry.value).then(() => { copy.textContent = "Copied"; }, () => document.execCommand("copy"));
    });
  }
})();
