// A person answers. What is seen comes from Python; here are clicks, keys, and what happens without a reply.
import {isAlone, keep, unpack} from "./tools.mjs";
import {begin, makePage} from "./page.mjs";
// Whether a font here has this emoji; otherwise it looks like a character that does not exist.
const canDraw = text => drawn([...text][0]) !== drawn("\u{10FFFE}");
function drawn(text) {
  const pen = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  pen.font = "16px system-ui, sans-serif";
  pen.fillText(text, 2, 20);
  return pen.getImageData(0, 0, 32, 32).data.join();
}
begin.start = (root, connect, spec) => {
  const {view, put} = makePage(root, spec), page = root.querySelector(".ask");
  let count = 0, silence = 0;
  page.classList.toggle("ask-names", !spec.emoji.every(canDraw));
  const send = connect(event => {
    if (event.number !== `${view}:${count}` || event.kind === "done") return;     // of another page or a wish before
    if (event.kind === "file") return keep(event.name, unpack(event.data, Uint8Array));
    clearTimeout(silence);
    if (event.kind === "sentence") return put({notes: `<p>${event.text}</p>`, ask: {"data-busy": ""}});
    if (event.show) put({...event.show, ask: {...event.show.ask, "data-busy": ""}});
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
    if ("words" in target.dataset) put({notes: `<p>${target.title}</p>`});
    if (wished && (detail < 2 || wished.do !== "answer"))         // the second half of a double click is no answer
      wish({do: wished.do, form: wished.form, answer: +wished.answer});
  });
  (isAlone() ? document : root).addEventListener("keydown", event => {
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
