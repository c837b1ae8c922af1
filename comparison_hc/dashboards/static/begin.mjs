// Where the page begins: in a notebook or behind a server, or as a file, which has its events in it, compressed.
import {begin} from "./page.mjs";
import {unpack} from "./tools.mjs";
const kernel = model => heard => (model.on("msg:custom", heard), request => model.send(request));
export default {render: ({model, el}) => begin.start(el, kernel(model), model.get("spec"))};
async function read(id) {
  const bytes = unpack(document.getElementById(id).textContent, Uint8Array);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}
function stored({names, events, answers}) {
  return heard => ({number, settings}) => {
    const places = answers[names.map(name => settings[name]).join("|")];
    for (const event of [...places.map(place => events[place]), {kind: "done"}]) heard({...event, number});
  };
}
const alone = document.querySelector("main#comparison-hc");
if (alone) begin.start(alone, stored(await read("data")), await read("spec"));
