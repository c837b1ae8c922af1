// Run Python files in Pyodide under Node: node run.mjs PYODIDE PACKAGES FILE ...   (packages with commas between them)
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, packages, ...files] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`));
// as a browser's worker has it: a request that stands still until it is answered
globalThis.XMLHttpRequest = class {
  open(_, name) { this.name = name; }
  send() { [this.status, this.response] = [200, new Uint8Array(readFileSync(this.name)).buffer]; }
};
const python = await loadPyodide({ indexURL: folder });
await python.loadPackage(packages.split(","), { messageCallback() {}, checkIntegrity: false });
try {
  for (const file of files) await python.runPythonAsync(readFileSync(file, "utf8"));
} catch (error) {
  console.error(error.message.slice(-4000)); // Node would show the whole of Pyodide's one line
  process.exitCode = 1;
}
