// Where the page begins as a file: its events are in it, compressed.
import {stored} from "./page.mjs";
import {start} from "./plain.mjs";
import {unpack} from "./tools.mjs";

async function read(id) {
  const bytes = unpack(document.getElementById(id).textContent, Uint8Array);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}
start(document.getElementById("dashboard"), stored(await read("data")), await read("spec"));
