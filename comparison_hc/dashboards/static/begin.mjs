// Where the page begins: in a notebook, behind a server, or as a file, which has its events in it, compressed.
import {begin} from "./page.mjs";
import {unpack} from "./tools.mjs";
const kernel = model => heard => (model.on("msg:custom", heard), request => model.send(request));
export default {render: ({model, el}) => begin.start(el, kernel(model), model.get("spec"))};
const inflate = data => new Response(new Blob([data]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
const read = id => inflate(unpack(document.getElementById(id).textContent, Uint8Array));
const stored = ({names, events, answers}) => heard => ({number, settings}) => {
  const places = answers[names.map(name => settings[name]).join("|")];
  for (const event of [...places.map(place => events[place]), {kind: "done"}]) heard({...event, number});
};
// A line to the server of a class. Where nothing comes for long, not even an event without a word, it is gone.
function served(heard) {
  const sign = document.getElementById("gone"), where = location.origin.replace("http", "ws") + alone.dataset.line;
  let line, asked = "", silence = 0;
  (function open() {
    line = Object.assign(new WebSocket(where + location.search), {
      onopen: () => asked && line.send(asked),
      onclose() { sign.hidden = false; setTimeout(open, 2000); },
      onmessage({data}) {
        const event = JSON.parse(data);
        [sign.hidden, silence] = [true, clearTimeout(silence) ?? setTimeout(() => line.close(), 15000)];
        if (event.kind === "done" && asked.includes(event.number)) asked = "";
        heard(event);
      },
    });
  })();
  return request => { asked = JSON.stringify(request); if (line.readyState === 1) line.send(asked); };
}
const alone = document.querySelector("main#comparison-hc");
if (alone) begin.start(alone, alone.dataset.line ? served : stored(await read("data")), await read("spec"));
