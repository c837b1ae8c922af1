// A person answers. What is seen comes from Python; here are clicks, keys, and what happens without a reply.
import {unpack} from "./tools.mjs";
import {begin, makePage} from "./page.mjs";

// Whether a font here has this emoji; otherwise it looks like a character that does not exist.
function canDraw(text) {
  const [one, other] = [[...text][0], "\u{10FFFE}"].map(sample => {
    const pen = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
    pen.font = "16px system-ui, sans-serif";
    pen.fillText(sample, 2, 20);
    return pen.getImageData(0, 0, 32, 32).data.join();
  });
  return one !== other;
}

function keep({name, data}) {
  const href = URL.createObjectURL(new Blob([unpack(data, Uint8Array)]));
  Object.assign(document.createElement("a"), {href, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(href), 10000);
}

begin.start = (root, connect, spec) => {
  const {view, put} = makePage(root, spec), page = root.querySelector(".ask");
  let count = 0, silence = 0;
  page.classList.toggle("ask-names", !spec.emoji.every(canDraw));
  const send = connect(event => {
    if (event.number !== `${view}:${count}`) return;              // of another page, or of a wish before the last
    if (event.kind === "file") return keep(event);
    clearTimeout(silence);
    put({...event.show, ask: {...event.show.ask, "data-busy": ""}});
  });
  function wish(what) {
    if (page.dataset.busy) return;
    page.dataset.busy = "yes";
    const noReply = {notes: `<p>${spec.silence}</p>`, ask: {"data-busy": ""}};
    silence = setTimeout(() => put(noReply), what.do === "export" ? 60000 : 8000);        // a picture takes its time
    send({...what, number: `${view}:${++count}`, at: +(page.dataset.at ?? 0)});
  }
  root.addEventListener("click", ({target, detail}) => {
    const wished = target.closest("[data-do]")?.dataset;
    if (wished && (detail < 2 || wished.do !== "answer"))         // the second half of a double click is no answer
      wish({do: wished.do, form: wished.form, answer: +wished.answer});
  });
  const alone = document.getElementById("rendered_cells");        // served as a page of its own: its keys are ours
  (alone ? document : root).addEventListener("keydown", event => {
    const {key, ctrlKey, metaKey, altKey, repeat} = event;
    const name = ["u", "Backspace"].includes(key) ? "[data-do=undo]" : `[data-answer="${CSS.escape(key)}"]`;
    const button = root.querySelector(name);
    if (!button || ctrlKey || metaKey || altKey || repeat) return;
    if (button.offsetParent) button.click();
    event.preventDefault();
    event.stopPropagation();
  });
  wish({do: "look"});
};
