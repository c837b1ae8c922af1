// Where the page begins in a notebook or behind a server.
import {kernel} from "./page.mjs";
import {start} from "./plain.mjs";

export default {
  render({model, el}) { start(el, kernel(model), model.get("spec")); },
};
