// Where the page begins: in a notebook or behind a server, or as a file, which has its events in it, compressed.
import {kernel, stored} from "./page.mjs";
import {start} from "./plain.mjs";
import {unpack} from "./tools.mjs";

export default {render: ({model, el}) => start(el, kernel(model), model.get("spec"))};

async function read(id) {
  const bytes = unpack(document.getElementById(id).textContent, Uint8Array);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}
const alone = document.querySelector("main#comparison-hc");
if (alone) start(alone, stored(await read("data")), await read("spec"));
