// The worker of python.mjs: loads Pyodide and a program, whose function `begin` is told where events go, and gives the
// function that answers requests. Requests that come before are kept.
import {loadPyodide} from "../lite/static/pyodide/pyodide.mjs";
const waiting = [];
onmessage = async ({data: [file, name]}) => {
  onmessage = ({data}) => waiting.push(data);
  const say = text => postMessage({kind: "loading", text});
  say("loading Python");
  const [program, python] = await Promise.all([fetch(new URL(file, import.meta.url)).then(got => got.text()), loadPyodide()]);
  say("loading NumPy and this package");
  await python.loadPackage("comparison-hc", {messageCallback() {}});
  say("starting");
  python.runPython(program);
  const answer = python.globals.get("begin")(name, event => postMessage(event));
  postMessage({kind: "ready"});
  onmessage = ({data}) => answer(python.toPy(data));
  for (const data of waiting) answer(python.toPy(data));
};
