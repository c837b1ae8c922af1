// The page for files: what is dropped or chosen goes to Python in a worker, and its report is shown below.
import {python} from "./python.mjs";
const MOST = 20e6;                                        // bytes of a file: about a million answers, minutes in a browser
const part = name => document.getElementById(`drop-${name}`), say = text => { part("status").textContent = text; };
let last = null, ready = false;
const ask = python("drop.py", "", event => {
  if (event.kind === "loading") say(`${event.text} …${last ? ` Then ${last.name} is read.` : ""}`);
  if (event.kind === "ready") ready = true;
  if (event.kind === "ready") say(last ? `Reading ${last.name} …` : "Ready: drop a file, or try the example.");
  if (event.kind === "tree") show(event);
});
function show({worked, printed, page, name}) {
  part("log").textContent = printed;
  part("frame").hidden = part("save").hidden = !worked;
  part("frame").srcdoc = page;
  URL.revokeObjectURL(part("save").href);
  part("save").href = URL.createObjectURL(new Blob([page], {type: "text/html"}));
  part("save").download = `${name.replace(/\.[^.]*$/, "")}.html`;
  say(worked ? `${name}: the tree is below.` : `${name} cannot be used as it is.`);
}
function options() {
  const count = part("clusters").value && `--clusters ${part("clusters").value}`;
  return `--kind ${part("kind").value} --method ${part("method").value} ${count} ${part("more").value}`;
}
function again() {
  if (!last) return;
  const long = last.data?.length > 5e5 ? " This can take minutes." : "";
  if (ready) say(`Reading ${last.name} …${long}`);
  ask({...last, options: options()});
}
async function take(files) {
  if (!files.length) return;
  if (files.length > 1) return say(`${files.length} files were dropped. This page takes one file with all answers.`);
  const [{name, size}] = files;
  if (size > MOST) return say(`${name} has ${Math.ceil(size / 1e6)} MB. This page takes at most ${MOST / 1e6} MB.`);
  const data = await files[0].arrayBuffer().catch(() => null);
  if (!data) return say(`${name} cannot be read. Is it a folder, or was it changed since it was chosen?`);
  last = {name, data: new Uint8Array(data)};
  again();
}
document.addEventListener("dragover", event => event.preventDefault());
document.addEventListener("drop", event => { event.preventDefault(); take(event.dataTransfer.files); });
part("file").addEventListener("change", () => take(part("file").files));
part("example").addEventListener("click", () => { last = {name: "animals.csv", data: null}; again(); });
for (const name of ["kind", "method", "clusters", "more"]) part(name).addEventListener("change", again);
