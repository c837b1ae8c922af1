// Python in a worker of its own. `python(file, name, heard)` starts it with a program from this folder and gives a
// function that sends it requests; `heard` is told of every event, and of what is being loaded meanwhile.
export function python(file, name, heard) {
  const worker = new Worker(new URL("python_worker.mjs", import.meta.url), {type: "module"});
  worker.onmessage = ({data}) => heard(typeof data === "string" ? JSON.parse(data) : data);
  worker.onerror = ({message}) => heard({kind: "loading", text: `Python could not be started: ${message}`});
  worker.postMessage([file, name]);
  return request => worker.postMessage(request);
}
